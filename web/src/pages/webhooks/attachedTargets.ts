import type { Webhook } from '../../api/queries/automation/webhook'
import type { Target } from '../../ui/run/target'

/** What a webhook runs. What its reader may not see is not in it. */
export function attachedTargets(
  hook: Pick<Webhook, 'tasks' | 'workflows'>,
  all: Target[],
): Target[] {
  return all.filter((target) =>
    (target.kind === 'task' ? hook.tasks : hook.workflows).includes(target.id),
  )
}
