import { Paper, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type Task, taskQuery } from '../../../api/queries/automation/task'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { useAppNavigate } from '../../../ui/AppLink'
import { AclPanel } from '../../../ui/acl/AclPanel'
import { UnsavedChanges } from '../../../ui/form/UnsavedChanges'
import { FormActions } from '../../../ui/formPage/FormActions'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { useTabInView } from '../../../ui/layout/useTabInView'
import { ApiPanel } from '../../../ui/run/calls/ApiPanel'
import { RunDialog } from '../../../ui/run/RunDialog'
import { useRunDialog } from '../../../ui/run/useRunDialog'
import { DefinitionTab } from './DefinitionTab'
import { HistoryTab } from './HistoryTab'
import { TaskConflict } from './TaskConflict'
import { RemoveTask, TaskHead } from './TaskHead'
import { TaskJobsTab } from './TaskJobsTab'
import { TaskTriggersTab } from './TaskTriggersTab'
import { ThisRun } from './ThisRun'
import '../tasks.css'
import { useTaskForm } from '../draft/useTaskForm'
import { useText } from '../text'

export function TaskPage() {
  const t = useText()
  const { id = '' } = useParams({ strict: false })
  const query = useQuery(taskQuery(id))
  usePageTitle(query.data?.name ?? t.list, t.list)
  return <QueryResult query={query}>{(task) => <Inside key={task.id} task={task} />}</QueryResult>
}

const TABS = ['script', 'triggers', 'jobs', 'access', 'api', 'history'] as const

function Inside({ task }: { task: Task }) {
  const t = useText()
  const go = useAppNavigate()
  const { tab = 'script' } = useParams({ strict: false })
  const form = useTaskForm(task)
  const can = useCan()
  const mayEdit = can('task.edit')
  const [isRunning, setRunning] = useRunDialog()
  useKeys({ 'mod+s': form.save, r: () => setRunning(true) })
  const list = useTabInView(tab)
  const tabs = TABS.filter((name) => name !== 'access' || can('task.access'))
  return (
    <>
      <TaskHead task={task} form={form} onRun={() => setRunning(true)} />
      <TaskConflict form={form} />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) => next && go(`/tasks/${task.id}/${next}`)}
      >
        <Tabs.List ref={list} mb="sm">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name === 'script' && task.type !== 'script' ? t.tabs.definition : t.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="script">
          <DefinitionTab form={form} readOnly={!mayEdit} />
          <ThisRun />
        </Tabs.Panel>
        <Tabs.Panel value="triggers">
          <TaskTriggersTab task={task} />
        </Tabs.Panel>
        <Tabs.Panel value="jobs">
          <TaskJobsTab task={task} />
        </Tabs.Panel>
        <Tabs.Panel value="access" maw={680}>
          <Paper withBorder p="md">
            <AclPanel object="task" id={task.id} />
          </Paper>
        </Tabs.Panel>
        <Tabs.Panel value="api" maw={940}>
          <Paper withBorder p="md">
            <ApiPanel target={{ kind: 'task', id: task.id, name: task.name }} />
          </Paper>
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <HistoryTab task={task} />
        </Tabs.Panel>
      </Tabs>
      {mayEdit && (tab === 'script' || form.isDirty) ? (
        <FormActions busy={form.isBusy} disabled={!form.isDirty} onSubmit={form.save}>
          <RemoveTask task={task} />
        </FormActions>
      ) : null}
      <UnsavedBetweenTasks when={form.isDirty} />
      <RunDialog
        target={{ kind: 'task', id: task.id, name: task.name }}
        opened={isRunning}
        onClose={() => setRunning(false)}
      />
    </>
  )
}

/** Going from tab to tab loses nothing: the form lives in the page. */
function UnsavedBetweenTasks({ when }: { when: boolean }) {
  const { id = '' } = useParams({ strict: false })
  return <UnsavedChanges when={when} within={`/tasks/${id}`} />
}
