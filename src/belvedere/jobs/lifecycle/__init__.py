"""What happens to a job, one module for each step.

Start with `create`, `claim` and `finish`, in this order; `verdict` decides the state that a report
leads to. `order` builds what the agent receives. `timeouts` ends jobs that expired or were lost,
`late_reports` stores reports that come after the end. `actions`, `assignment` and `commands` are
operations of people. `legacy_orders` is for TheEye agents. `jobs.api`, `workflows`, `legacy_agents`
and `server` call these operations.
"""
