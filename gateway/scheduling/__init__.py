"""Jobs and reminders.

`job`, `jobs_file` and `job_store` read and change `schedule.yaml`; `recurrence` computes due times, `policy` decides
what follows. `timers` wakes `service`, `runs` carries a due job out, `run_state` keeps the outcome. `recurrence`,
`policy`, `phrases`, `job` and `jobs_file` are pure.
"""
