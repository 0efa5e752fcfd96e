import { Button, Group, Paper, SegmentedControl, Select, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { runsQuery, type Workflow } from '../../../api/queries/automation/workflow'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { dateTime } from '../../../lib/format'
import { isOver, jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { FlowTable } from '../../../ui/graph/FlowTable'
import { FlowView } from '../../../ui/graph/FlowView'
import { draftOf, tasksOf, useSteps } from '../../../ui/graph/RunGraph'
import { WorkflowEditor } from '../editor/WorkflowEditor'
import { useText } from '../text'
import { useAddress } from './useAddress'

/** The graph: to look at, with a run drawn over it, or to edit. */
export function WorkflowGraphTab({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const { search, go } = useAddress()
  const mayEdit = useCan()('workflow.edit')
  const home = `/workflows/${workflow.id}/graph`
  const set = (change: Partial<typeof search>) => {
    const next = { ...search, ...change }
    go(home, Object.fromEntries(Object.entries(next).filter(([, value]) => value)))
  }
  useKeys(mayEdit ? { e: () => set({ edit: !search.edit }) } : {})
  if (search.edit && mayEdit)
    return (
      <WorkflowEditor
        workflow={workflow}
        onLeave={() => set({ edit: false })}
        isTable={!!search.table}
        onTable={(table) => set({ table })}
      />
    )
  return (
    <Paper withBorder className="flow-board">
      <Group className="head" wrap="wrap">
        <RunPicker workflow={workflow} job={search.job} onPick={(job) => set({ job })} />
        <Group ml="auto" gap={8}>
          <SegmentedControl
            size="xs"
            aria-label={t.tabs.graph}
            value={search.table ? 'table' : 'graph'}
            onChange={(value) => set({ table: value === 'table' })}
            data={[
              { value: 'graph', label: t.graph },
              { value: 'table', label: t.table },
            ]}
          />
          <Button
            variant="default"
            leftSection={<Pencil size={14} />}
            disabled={!mayEdit}
            onClick={() => set({ edit: true, job: undefined })}
          >
            {t.edit}
          </Button>
        </Group>
      </Group>
      <Picture workflow={workflow} job={search.job} isTable={!!search.table} />
    </Paper>
  )
}

/** Not a run but the way to the list of all. */
const OLDER = 'older'

function useRuns(id: string) {
  const { data, hasNextPage } = useInfiniteQuery(runsQuery(id))
  return { runs: data?.pages.flatMap((page) => page.rows) ?? [], hasOlder: hasNextPage }
}

function RunPicker({
  workflow,
  job,
  onPick,
}: {
  workflow: Workflow
  job?: string
  onPick: (job: string | undefined) => void
}) {
  const t = useText()
  const { go } = useAddress()
  const { runs, hasOlder } = useRuns(workflow.id)
  const options = runs.map((run) => ({
    value: run.id,
    label: `${dateTime(run.creation_date)} · ${jobStateText(run)}`,
  }))
  if (job && !runs.some((run) => run.id === job))
    options.push({ value: job, label: `#${job.slice(-6)}` })
  if (hasOlder) options.push({ value: OLDER, label: t.olderRuns })
  return (
    <Select
      size="xs"
      w={280}
      aria-label={t.runOf}
      placeholder={t.latest}
      clearable
      data={options}
      value={job ?? runs.find((run) => !isOver(run))?.id ?? null}
      onChange={(value) =>
        value === OLDER ? go(`/workflows/${workflow.id}/jobs`) : onPick(value ?? undefined)
      }
    />
  )
}

function Picture({
  workflow,
  job,
  isTable,
}: {
  workflow: Workflow
  job?: string
  isTable: boolean
}) {
  const t = useText()
  const { go } = useAddress()
  const { runs } = useRuns(workflow.id)
  // A run that is under way shows itself.
  const runId = job ?? runs.find((run) => !isOver(run))?.id ?? null
  const { states, jobsOf } = useSteps(workflow.id, runId)
  const common = {
    draft: draftOf(workflow),
    tasks: tasksOf(workflow),
    steps: runId ? states : undefined,
  }
  const pageOf = new Map(
    workflow.graph.nodes?.map((node) => [
      node.id,
      node.workflow_id ? `/workflows/${node.workflow_id}` : `/tasks/${node.task_id}`,
    ]),
  )
  const open = (node: string | null) => {
    if (!node) return
    const run = jobsOf.get(node)?.at(-1)
    if (runId && !run) return
    go(run ? `/jobs/${run}` : (pageOf.get(node) ?? ''))
  }
  if (!isTable) return <FlowView {...common} onSelect={open} />
  return (
    <FlowTable
      {...common}
      actions={(node) => {
        const runs = jobsOf.get(node) ?? []
        if (runs.length > 1) return <Visits jobs={runs} />
        if (runs.length) return <AppLink to={`/jobs/${runs[0]}`}>{t.openJob}</AppLink>
        return runId ? <Text size="xs">{t.notRun}</Text> : null
      }}
    />
  )
}

/** The job of each visit of a step. */
function Visits({ jobs }: { jobs: string[] }) {
  const t = useText()
  return (
    <Group gap={8} wrap="wrap">
      {jobs.map((job, n) => (
        <AppLink key={job} to={`/jobs/${job}`}>
          {t.visit(n + 1)}
        </AppLink>
      ))}
    </Group>
  )
}
