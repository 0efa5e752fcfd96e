import '../jobs.css'
import { Button, Group, Paper, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ListChecks } from 'lucide-react'
import { useMemo } from 'react'
import { type Job, type JobFilter, jobsQuery, PAGE } from '../../../api/queries/job'
import { usePageTitle } from '../../../app/title'
import { AppLink } from '../../../ui/AppLink'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { RemovedJobs } from '../../../ui/list/RemovedJobs'
import { JobFilters } from '../filters/JobFilters'
import { useJobsText } from '../listText'
import { JobBulkActions } from './JobBulkActions'
import { JobList } from './JobList'
import { OlderJobs } from './OlderJobs'
import { useContinued } from './useContinued'
import { useScrollTop } from './useScrollTop'
import { useSelection } from './useSelection'

export function JobsPage() {
  const t = useJobsText()
  usePageTitle(t.jobs)
  const filter = useSearch({ strict: false }) as JobFilter
  const set = useSetFilter(filter)
  const top = useScrollTop(filter)
  const query = useInfiniteQuery({ ...jobsQuery(filter), placeholderData: keepPreviousData })
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data])
  const { total = null, more = false } = query.data?.pages[0] ?? {}
  const last = query.data?.pages.at(-1)
  // A short page ends where the server's row budget did: the search continues by itself.
  const until = last && last.rows.length < PAGE ? last.until : null
  const onMore = () => !query.isFetchingNextPage && void query.fetchNextPage()
  const isEnd = !!last && !query.hasNextPage
  useContinued(query, until)
  const selection = useSelection(rows, JSON.stringify(filter))
  return (
    <Paper withBorder className="fill jobs-card">
      {selection.chosen.size ? (
        <JobBulkActions selection={selection} rows={rows} />
      ) : (
        <JobFilters filter={filter} onFilter={set} total={total} more={more} />
      )}
      <QueryResult query={query as never} lines={12}>
        {() =>
          rows.length ? (
            <JobList
              rows={rows}
              total={total ?? rows.length}
              filter={filter}
              selection={selection}
              top={top}
              hasMore={query.hasNextPage && !until}
              onMore={onMore}
            />
          ) : until ? null : (
            <Nothing filter={filter} onFilter={set} />
          )
        }
      </QueryResult>
      {isEnd && isOnlyAbout(filter) ? (
        <RemovedJobs task={filter.task} workflow={filter.workflow} />
      ) : null}
      {until ? <OlderJobs until={until} isBusy={query.isFetchingNextPage} onMore={onMore} /> : null}
    </Paper>
  )
}

/** Whether the list shows all jobs, or all of one task or workflow. */
function isOnlyAbout(filter: JobFilter): boolean {
  const names = Object.keys(filter)
  return (
    names.length === 0 || (names.length === 1 && (names[0] === 'task' || names[0] === 'workflow'))
  )
}

/** Filters live in the address; each change is a step that "back" undoes, but typing is one. */
function useSetFilter(filter: JobFilter): (change: Partial<JobFilter>) => void {
  const navigate = useNavigate()
  return (change) => {
    const next = Object.fromEntries(
      Object.entries({ ...filter, ...change }).filter(([, value]) => value),
    )
    const isTyping = 'q' in change && !!filter.q
    void navigate({ to: '.', search: next as never, replace: isTyping, resetScroll: false })
  }
}

interface NothingProps {
  filter: JobFilter
  onFilter: (change: Partial<JobFilter>) => void
}

function Nothing({ filter, onFilter }: NothingProps) {
  const t = useJobsText()
  const isNarrow = Object.keys(filter).length > 0
  const isTimed = filter.from || filter.to
  if (!isNarrow)
    return (
      <EmptyState icon={ListChecks} title={t.first}>
        <Text size="sm" mb={8}>
          {t.firstBody}
        </Text>
        <Button component={AppLink} to="/tasks">
          {t.toTasks}
        </Button>
      </EmptyState>
    )
  const all = Object.fromEntries(Object.keys(filter).map((name) => [name, undefined]))
  return (
    <EmptyState icon={ListChecks} title={t.empty}>
      <Text size="sm" mb={8}>
        {t.emptyBody}
      </Text>
      <Group justify="center" gap={8}>
        {isTimed ? (
          <Button variant="default" onClick={() => onFilter({ from: undefined, to: undefined })}>
            {t.widen}
          </Button>
        ) : null}
        <Button variant="default" onClick={() => onFilter(all)}>
          {t.clear}
        </Button>
      </Group>
    </EmptyState>
  )
}

export type { Job }
