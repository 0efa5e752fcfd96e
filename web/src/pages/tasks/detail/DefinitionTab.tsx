import { useCan } from '../../../app/session'
import type { FormProps } from '../draft/taskDraft'
import type { TaskForm } from '../draft/useTaskForm'
import { KindFields } from '../form/KindFields'
import { TaskFields } from '../form/TaskFields'
import { ScriptPane } from './ScriptPane'
import { TaskSecrets } from './TaskSecrets'

/** The definition of the task: all settings, and the script or its equivalent. */
export function DefinitionTab({ form, readOnly }: { form: TaskForm; readOnly: boolean }) {
  const { draft, script, errors, own } = form
  const props: FormProps = { task: draft.task, set: draft.set, errors, readOnly }
  const { type, id } = draft.task
  const isScript = type === 'script'
  const mayRead = useCan()('secret.edit')
  const main = isScript ? <ScriptPane {...props} script={script} /> : <KindFields {...props} />
  return (
    <TaskFields {...props} own={own} main={main}>
      {isScript && mayRead ? <TaskSecrets taskId={id} /> : null}
    </TaskFields>
  )
}
