import type { Webhook } from '../../api/queries/automation/webhook'
import type { Target } from '../../ui/run/target'

/** The targets of a webhook that the reader may see. */
export function attachedTargets(
  hook: Pick<Webhook, 'tasks' | 'workflows'>,
  all: Target[],
): Target[] {
  return all.filter((target) =>
    (target.kind === 'task' ? hook.tasks : hook.workflows).includes(target.id),
  )
}
