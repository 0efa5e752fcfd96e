import { Stack } from '@mantine/core'
import { useCan } from '../../../app/session'
import type { FormProps } from '../draft/taskDraft'
import type { TaskForm } from '../draft/useTaskForm'
import { ArgumentList } from '../form/arguments/ArgumentList'
import { ExecutionFields } from '../form/ExecutionFields'
import { GeneralFields } from '../form/GeneralFields'
import { KindFields } from '../form/KindFields'
import { OptionFields } from '../form/OptionFields'
import { ScriptPane } from './ScriptPane'
import { TaskSecrets } from './TaskSecrets'

/** What the task is: the script or what stands in its place, and everything around it. */
export function DefinitionTab({ form, readOnly }: { form: TaskForm; readOnly: boolean }) {
  const { draft, script, errors } = form
  const props: FormProps = { task: draft.task, set: draft.set, errors, readOnly }
  const { type, id } = draft.task
  const isScript = type === 'script'
  const mayRead = useCan()('secret.edit')
  return (
    <div className="task-split">
      {isScript ? <ScriptPane {...props} script={script} /> : <KindFields {...props} />}
      <Stack gap={12}>
        {type === 'notification' ? null : <ArgumentList {...props} />}
        {isScript || type === 'scraper' ? <ExecutionFields {...props} /> : null}
        <GeneralFields {...props} />
        <OptionFields {...props} />
        {isScript && mayRead ? <TaskSecrets taskId={id} /> : null}
      </Stack>
    </div>
  )
}
