import { Button, CloseButton, Group, SegmentedControl, Select, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { StepForward } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Workflow } from '../../api/queries/automation/workflow'
import { type Job, jobQuery } from '../../api/queries/job'
import { isOver, jobLook, jobStateText } from '../../lib/state'
import { valueBlock, valueText } from '../../lib/valueText'
import { AppLink, useAppNavigate } from '../AppLink'
import { type Argument, nameOf } from '../arguments/values'
import { reasonText } from '../job/reasons'
import { QueryResult } from '../layout/QueryResult'
import { useLastLines } from '../run/lastLines'
import '../run/run.css'
import { RunDialog } from '../run/RunDialog'
import { startStep, useMayRun } from '../run/target'
import { StateIcon } from '../state/StateIcon'
import { Duration } from '../state/Time'
import { useWords } from '../text'
import { showError, showSuccess } from '../toast'
import type { Node } from './graphDraft'
import { useText } from './text'

const LINES = 300
/** Characters of one value; the job's page has all of it. */
const MOST_CHARACTERS = 20_000
const PARTS = ['log', 'input', 'output'] as const
type Part = (typeof PARTS)[number]

interface Props {
  node: Node
  /** The jobs of its visits in the run that is shown, oldest first. */
  jobs: string[]
  hasRun: boolean
  onClose: () => void
  /** Buttons for a step that ran. */
  children?: ReactNode
}

/** A step next to the graph: its log, its input and its output. */
export function StepDetails({ node, jobs, hasRun, onClose, children }: Props) {
  const t = useText()
  const w = useWords()
  const [visit, setVisit] = useState<number | null>(null)
  const job = jobs[(visit ?? jobs.length) - 1]
  const home = node.workflow_id ? `/workflows/${node.workflow_id}` : `/tasks/${node.task_id}`
  return (
    <aside className="flow-step" aria-label={t.details(node.id)}>
      <Group gap={8} wrap="nowrap">
        <Title order={3} size="h6" className="clip">
          {node.id}
        </Title>
        <CloseButton ml="auto" size="sm" aria-label={w.close} onClick={onClose} />
      </Group>
      {jobs.length > 1 ? (
        <Select
          size="xs"
          aria-label={t.visitOf}
          allowDeselect={false}
          data={jobs.map((_, n) => ({ value: String(n + 1), label: t.visit(n + 1) }))}
          value={String(visit ?? jobs.length)}
          onChange={(value) => setVisit(Number(value))}
        />
      ) : null}
      {job ? (
        <StepJob id={job} key={job} />
      ) : (
        <Text size="sm" c="dimmed">
          {hasRun ? t.notReached : t.neverRan}
        </Text>
      )}
      <Group gap={12}>
        {job ? children : null}
        {job ? <AppLink to={`/jobs/${job}`}>{t.openJob}</AppLink> : null}
        <AppLink to={home}>{node.workflow_id ? t.openWorkflow : t.openTask}</AppLink>
      </Group>
    </aside>
  )
}

function StepJob({ id }: { id: string }) {
  const query = useQuery(jobQuery(id))
  return (
    <QueryResult query={query} lines={4}>
      {(job) => <StepParts job={job} />}
    </QueryResult>
  )
}

function StepParts({ job }: { job: Job }) {
  const t = useText()
  const [part, setPart] = useState<Part>('log')
  return (
    <>
      <Group gap={8}>
        <StateIcon look={jobLook(job)} />
        <Text size="sm" fw={600}>
          {jobStateText(job)}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          {job.hostname} <Duration from={job.started_at ?? job.creation_date} to={job.ended_at} />
        </Text>
      </Group>
      {job.reason ? <Text size="sm">{reasonText(job.reason)}</Text> : null}
      <SegmentedControl
        size="xs"
        aria-label={t.parts}
        value={part}
        onChange={(value) => setPart(value as Part)}
        data={PARTS.map((value) => ({ value, label: t.part[value] }))}
      />
      {part === 'log' ? <StepLog job={job} /> : null}
      {part === 'input' ? <StepInput job={job} /> : null}
      {part === 'output' ? <Values values={listOf(job.output)} empty={t.noOutput} /> : null}
    </>
  )
}

function StepLog({ job }: { job: Job }) {
  const t = useText()
  const { lines, isOver: isEnd } = useLastLines(job.id, LINES)
  const nothing = isEnd || isOver(job) ? t.silent : t.waiting
  return (
    <section className="run-tail mono flow-log" aria-label={t.part.log} tabIndex={0}>
      {lines.length ? lines.join('\n') : <Text c="dimmed">{nothing}</Text>}
    </section>
  )
}

function StepInput({ job }: { job: Job }) {
  const t = useText()
  const definitions = (job.task?.task_arguments ?? []) as Argument[]
  const values = job.task_arguments_values ?? []
  const names = values.map((_, n) => (definitions[n] ? nameOf(definitions[n], n) : String(n + 1)))
  return <Values values={values} names={names} empty={t.noInput} />
}

function listOf(output: unknown): unknown[] {
  if (output === null || output === undefined) return []
  return Array.isArray(output) ? output : [output]
}

function Values({ values, names, empty }: { values: unknown[]; names?: string[]; empty: string }) {
  if (values.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    )
  return (
    <dl className="flow-values">
      {values.map((value, n) => (
        <div key={n}>
          <dt>{names?.[n] ?? n + 1}</dt>
          <dd>
            <pre>{valueBlock(valueText(value)).slice(0, MOST_CHARACTERS)}</pre>
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface RunFromProps {
  workflow: Workflow
  /** The run whose earlier steps are kept. */
  jobId: string
  node: Node
  /** The job of the step's latest visit. */
  stepJobId: string
}

/** Runs a step of a finished run again, with the same or other values, and all that follows it. */
export function RunFromStep({ workflow, jobId, node, stepJobId }: RunFromProps) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [asks, setAsks] = useState(false)
  const mayRun = useMayRun()(workflow.acl) && workflow.enable
  const { data: run } = useQuery(jobQuery(jobId))
  const { data: job } = useQuery(jobQuery(stepJobId))
  const step = { workflowId: workflow.id, runId: jobId, nodeId: node.id, acl: workflow.acl }
  const start = useMutation({
    mutationFn: () => startStep(step, {}),
    onSuccess: (next) => {
      showSuccess(t.startedFrom(node.id))
      void client.invalidateQueries({ queryKey: ['job'] })
      go(`/workflows/${workflow.id}/graph`, { job: next.id, step: node.id })
    },
    onError: showError,
  })
  if (!run || !isOver(run) || !mayRun) return null
  const values = job?.task_arguments_values ?? []
  const icon = <StepForward size={12} />
  const button = { size: 'compact-sm', variant: 'default', leftSection: icon } as const
  return (
    <>
      <Button
        {...button}
        title={t.runFromHelp}
        loading={start.isPending}
        onClick={() => start.mutate()}
      >
        {t.runFrom}
      </Button>
      {job?.task?.task_arguments?.length ? (
        <Button {...button} onClick={() => setAsks(true)}>
          {t.runWith}
        </Button>
      ) : null}
      <RunDialog
        target={{ kind: 'task', id: node.task_id ?? '', name: node.id }}
        from={{ id: stepJobId, values, step }}
        opened={asks}
        onClose={() => setAsks(false)}
      />
    </>
  )
}
