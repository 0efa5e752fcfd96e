import { Button, Group, Paper, SegmentedControl, Select, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { runsQuery, type Workflow } from '../../../api/queries/automation/workflow'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { dateTime } from '../../../lib/format'
import { shortId } from '../../../lib/jobId'
import { jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { FlowTable } from '../../../ui/graph/FlowTable'
import { draftOf, RunPicture, tasksOf, useSteps } from '../../../ui/graph/RunGraph'
import { WorkflowEditor } from '../editor/WorkflowEditor'
import { NO_RUN } from '../search'
import { useText } from '../text'
import { useAddress } from './useAddress'

/** The graph with its newest run or another one, or the editor. */
export function WorkflowGraphTab({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const { search, go } = useAddress()
  const mayEdit = useCan()('workflow.edit')
  const home = `/workflows/${workflow.id}/graph`
  const set = (change: Partial<typeof search>) => {
    const next = { ...search, ...change }
    go(home, Object.fromEntries(Object.entries(next).filter(([, value]) => value)))
  }
  const runId = useRunId(workflow.id, search.job)
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
        <RunPicker workflow={workflow} runId={runId} onPick={(job) => set({ job })} />
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
            onClick={() => set({ edit: true, job: undefined, step: undefined })}
          >
            {t.edit}
          </Button>
        </Group>
      </Group>
      {search.table ? (
        <StepTable workflow={workflow} runId={runId} />
      ) : (
        <RunPicture
          workflow={workflow}
          jobId={runId}
          step={search.step ?? null}
          onStep={(step) => set({ step: step ?? undefined })}
        />
      )}
    </Paper>
  )
}

/** Not a run but the way to the list of all. */
const OLDER = 'older'

function useRuns(id: string) {
  const { data, hasNextPage } = useInfiniteQuery(runsQuery(id))
  return { runs: data?.pages.flatMap((page) => page.rows) ?? [], hasOlder: hasNextPage }
}

/** The run that the address names, or the newest. */
function useRunId(id: string, job: string | undefined): string | null {
  const { runs } = useRuns(id)
  return job === NO_RUN ? null : (job ?? runs[0]?.id ?? null)
}

function RunPicker({
  workflow,
  runId,
  onPick,
}: {
  workflow: Workflow
  runId: string | null
  onPick: (job: string) => void
}) {
  const t = useText()
  const { go } = useAddress()
  const { runs, hasOlder } = useRuns(workflow.id)
  const options = runs.map((run) => ({
    value: run.id,
    label: `${dateTime(run.creation_date)} · ${jobStateText(run)}`,
  }))
  if (runId && !runs.some((run) => run.id === runId))
    options.push({ value: runId, label: shortId(runId) })
  if (hasOlder) options.push({ value: OLDER, label: t.olderRuns })
  return (
    <Select
      size="xs"
      w={280}
      aria-label={t.runOf}
      placeholder={t.latest}
      clearable
      data={options}
      value={runId}
      onChange={(value) =>
        value === OLDER ? go(`/workflows/${workflow.id}/jobs`) : onPick(value ?? NO_RUN)
      }
    />
  )
}

function StepTable({ workflow, runId }: { workflow: Workflow; runId: string | null }) {
  const t = useText()
  const { states, jobsOf } = useSteps(workflow.id, runId)
  return (
    <FlowTable
      draft={draftOf(workflow)}
      tasks={tasksOf(workflow)}
      steps={runId ? states : undefined}
      actions={(node) => {
        const jobs = jobsOf.get(node) ?? []
        if (jobs.length > 1) return <Visits jobs={jobs} />
        if (jobs.length) return <AppLink to={`/jobs/${jobs[0]}`}>{t.openJob}</AppLink>
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
