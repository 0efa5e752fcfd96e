import { Button, Paper } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ListFilter } from 'lucide-react'
import { useMemo, useState } from 'react'
import { type TaskLine, taskLinesQuery } from '../../../api/queries/automation/task'
import { useRefetchOnEvents } from '../../../api/refetchOnEvents'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { LoadMore } from '../../../ui/list/LoadMore'
import { useRowKeys } from '../../../ui/list/rowKeys'
import { RunDialog } from '../../../ui/run/RunDialog'
import { useImportRecipe } from '../import/useImportRecipe'
import { FirstTask } from './FirstTask'
import { TaskFilters } from './TaskFilters'
import { TaskGroup } from './TaskGroup'
import { groupTasks, hasLastResult } from './taskGroups'
import '../tasks.css'
import { useText } from '../text'

const tasksRoute = getRouteApi('/$customer/tasks')

export function TasksPage() {
  const t = useText()
  usePageTitle(t.list)
  const { last, ...filter } = tasksRoute.useSearch()
  const query = useInfiniteQuery(taskLinesQuery(filter))
  const [running, setRunning] = useState<TaskLine | null>(null)
  useRefetchOnEvents(['job'], ['task', 'board'])
  useCreateKey()
  useRowKeys()
  const isFiltered = !!last || Object.values(filter).some(Boolean)
  const total = query.data?.pages[0]?.total ?? null
  const { button: importButton, dialog: importDialog } = useImportRecipe()
  if (total === 0 && !isFiltered)
    return (
      <>
        <FirstTask importButton={importButton} />
        {importDialog}
      </>
    )
  return (
    <>
      <Paper withBorder>
        <TaskFilters filter={{ ...filter, last }} total={total} importButton={importButton} />
        <QueryResult query={query} lines={12}>
          {({ pages }) => (
            <Groups
              lines={pages.flatMap((page) => page.rows).filter((line) => hasLastResult(line, last))}
              onRun={setRunning}
            />
          )}
        </QueryResult>
        <LoadMore query={query} remaining={countRemaining(query.data?.pages)} />
        {running ? (
          <RunDialog
            target={{ kind: 'task', id: running.id, name: running.name }}
            opened
            onClose={() => setRunning(null)}
          />
        ) : null}
      </Paper>
      {importDialog}
    </>
  )
}

/** How many tasks no page that is here has. */
function countRemaining(pages: { rows: unknown[]; total: number | null }[] = []): number {
  return (pages[0]?.total ?? 0) - pages.reduce((sum, { rows }) => sum + rows.length, 0)
}

function useCreateKey(): void {
  const go = useAppNavigate()
  const may = useCan()('task.edit')
  useKeys(may ? { c: () => go('/tasks/new') } : {})
}

function Groups({ lines, onRun }: { lines: TaskLine[]; onRun: (line: TaskLine) => void }) {
  const t = useText()
  const groups = useMemo(() => groupTasks(lines), [lines])
  if (groups.length === 0)
    return (
      <EmptyState icon={ListFilter} title={t.noMatches}>
        <Button component={AppLink} to="/tasks" variant="default">
          {t.clear}
        </Button>
      </EmptyState>
    )
  return (
    <ul className="tasks-list" aria-label={t.list}>
      {groups.map((group) => (
        <TaskGroup key={group.name} group={group} onRun={onRun} />
      ))}
    </ul>
  )
}
