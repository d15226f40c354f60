"""Set-up: each part is checked and written in the same way by the page, the command line and the doctor."""
