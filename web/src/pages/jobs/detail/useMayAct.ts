import { useQuery } from '@tanstack/react-query'
import type { Job } from '../../../api/queries/job'
import { useCan, useProfile } from '../../../app/session'
import { aclQuery } from '../../../ui/acl/acl'
import { useMayRun } from '../../../ui/run/target'

/** Whether this person may act on a job: users and admins on all that they see, managers only on
 * jobs of what names them. */
export function useMayAct(job: Job): boolean {
  const may = useCan()('job.act')
  const mayRun = useMayRun()
  const isManager = useProfile().credential === 'manager'
  const [object, id] = job.workflow_id
    ? (['workflow', job.workflow_id] as const)
    : (['task', job.task_id] as const)
  const { data } = useQuery({ ...aclQuery(object, id ?? ''), enabled: isManager && !!id })
  return may && mayRun(data?.users ?? [])
}
