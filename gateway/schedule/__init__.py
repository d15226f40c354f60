"""Time: jobs and reminders (SPEC 8).

`schedule.yaml` says what is to be done (`job`, `jobs_file`, `jobs`), `due` when that is, `plan` what follows from it
now; `schedule` takes due times up, and `runs` does what is to be done. What has become of each stands in the store
(`ledger`), written down before anything is done. `when`, `due`, `plan`, `phrases`, `job` and `jobs_file` are pure.
"""
