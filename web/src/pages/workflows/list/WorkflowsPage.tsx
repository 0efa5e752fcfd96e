import { Badge, Box, Button, Group, Paper, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Workflow as Icon, Play, Plus } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { Shape } from '../../../api/client'
import {
  type Workflow,
  workflowGraphsQuery,
  workflowLinesQuery,
} from '../../../api/queries/automation/workflow'
import { useRefetchOnEvents } from '../../../api/refetchOnEvents'
import { useKeys } from '../../../app/keys'
import { useNavTitles } from '../../../app/pages'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { jobLook, jobStateText, type Look } from '../../../lib/state'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { LoadMore } from '../../../ui/list/LoadMore'
import { useRowKeys } from '../../../ui/list/rowKeys'
import { NoMatches, SearchField, useListSearch } from '../../../ui/list/SearchField'
import { RunDialog } from '../../../ui/run/RunDialog'
import { CheckStrip } from '../../../ui/state/CheckStrip'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useText } from '../text'
import { MiniGraph } from './MiniGraph'
import '../workflows.css'

type Line = Shape<'WorkflowLine'>

/** Letters of the board to looks. */
const BEATS: Record<string, Look> = { n: 'ok', f: 'fail', x: 'cancel', l: 'lost', r: 'run' }

export function WorkflowsPage() {
  const t = useText()
  const { workflows: title } = useNavTitles()
  usePageTitle(title)
  const go = useAppNavigate()
  const lines = useInfiniteQuery(workflowLinesQuery)
  useRefetchOnEvents(['job'], ['workflow', 'list'])
  const total = lines.data?.pages[0]?.total ?? 0
  const rows = lines.data?.pages.flatMap((page) => page.rows) ?? []
  const mayEdit = useCan()('workflow.edit')
  const { filterText, isIn } = useListSearch()
  const wholes = useWholes()
  const [running, setRunning] = useState<Line | null>(null)
  useKeys(mayEdit ? { c: () => go('/workflows/new') } : {})
  useRowKeys()
  const create = (
    <Button
      leftSection={<Plus size={14} />}
      disabled={!mayEdit}
      onClick={() => go('/workflows/new')}
    >
      {t.create}
    </Button>
  )
  // A person who looks for one means all of them, not only those that are listed by chance.
  const isShort = filterText !== '' && lines.hasNextPage && !lines.isFetching && !lines.isError
  useEffect(() => {
    if (isShort) void lines.fetchNextPage()
  }, [isShort, lines.fetchNextPage])
  const fitting = rows.filter((line) => isIn([line.name, ...line.tags].join(' ')))
  // Before all rows are loaded it is unknown whether one matches.
  const isNone = fitting.length === 0 && !lines.hasNextPage
  return (
    <Paper withBorder>
      <Group className="head" gap={8}>
        {rows.length ? <SearchField label={t.find} /> : null}
        <Text size="xs" c="dimmed" className="num" role="status">
          {lines.data ? t.count(total) : ''}
        </Text>
        <Box ml="auto">{create}</Box>
      </Group>
      <QueryResult query={lines}>
        {() =>
          rows.length && isNone ? (
            <NoMatches />
          ) : rows.length ? (
            <div role="list">
              {fitting.map((line) => (
                <Row
                  key={line.id}
                  line={line}
                  workflow={wholes.get(line.id)}
                  onRun={() => setRunning(line)}
                />
              ))}
            </div>
          ) : (
            <EmptyState icon={Icon} title={t.none}>
              <p>{t.noneBody}</p>
              {create}
            </EmptyState>
          )
        }
      </QueryResult>
      <LoadMore query={lines} remaining={total - rows.length} whenVisible />
      {running ? (
        <RunDialog
          target={{ kind: 'workflow', id: running.id, name: running.name }}
          opened
          onClose={() => setRunning(null)}
        />
      ) : null}
    </Paper>
  )
}

/** The rows have no graphs: those are loaded a moment later, for the thumbnails. */
function useWholes(): Map<string, Workflow> {
  const { data } = useQuery(workflowGraphsQuery)
  return useMemo(() => new Map(data?.map((workflow) => [workflow.id, workflow])), [data])
}

interface RowProps {
  line: Line
  workflow?: Workflow
  onRun: () => void
}

function Row({ line, workflow, onRun }: RowProps) {
  const t = useText()
  const last = line.last_job
  return (
    <div role="listitem" className="row flow-row" data-row>
      <StateIcon
        look={last ? jobLook(last) : 'queue'}
        title={last ? jobStateText(last) : t.never}
      />
      <Box miw={0}>
        <AppLink to={`/workflows/${line.id}`} className="clip flow-name">
          {line.name}
        </AppLink>
        <Text size="xs" c="dimmed" className="clip">
          {[t.steps(line.steps), line.tags.join(', ')].filter(Boolean).join(' · ')}{' '}
          {line.enable ? null : <Badge size="xs">{t.disabled}</Badge>}
        </Text>
      </Box>
      <div className="hide-md">{workflow ? <MiniGraph workflow={workflow} /> : null}</div>
      <Box className="flow-strip">
        <CheckStrip
          data={[...line.beats].map((letter) => BEATS[letter] ?? 'stop')}
          label={t.lastRuns(line.name)}
        />
      </Box>
      <Text size="xs" c="dimmed" className="hide-sm" component="div">
        {last ? <Ago at={last.created} /> : t.never}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        data-act="run"
        leftSection={<Play size={12} />}
        disabled={!line.may_run || !line.enable}
        aria-label={`${t.run}: ${line.name}`}
        onClick={onRun}
      >
        {t.run}
      </Button>
    </div>
  )
}
