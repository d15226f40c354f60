"""Jobs and reminders.

`job`, `jobs_file` and `job_store` read and change `schedule.yaml`; `recurrence` computes due times, `policy` decides
what follows. `timers` wakes `service`, `runs` carries a due job out, `run_state` keeps the outcome. `recurrence`,
`policy`, `job`, `jobs_file` and the package `words`, which reads times as people say them, are pure.
"""
