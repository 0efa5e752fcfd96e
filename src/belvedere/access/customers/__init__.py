"""Operations on organizations (`customers` in code and tables) and their members.

Start with `service` (an organization) and `member_changes` (who may change whom). `invitations` and
`consent` add people, `password_recovery` and `second_factor_changes` help those who cannot sign in.
`history_limits` has the default limits of a task's history. Other packages import `service` and
`history_limits`; the rest is for `access.api` and the operator's socket.
"""
