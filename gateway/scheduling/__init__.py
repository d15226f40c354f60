"""Jobs and reminders (SPEC 8).

`job`, `jobs_file` and `job_store` read and change `schedule.yaml`; `recurrence` computes due times and `policy` decides
what follows from them; `service` takes due times up and `runs` carries them out. `run_state` keeps what became of each.
`recurrence`, `policy`, `phrases`, `job` and `jobs_file` are pure.
"""
