import { Badge, Button, Group as Row, Text } from '@mantine/core'
import { Play } from 'lucide-react'
import { memo } from 'react'
import type { TaskLine } from '../../../api/queries/automation/task'
import { duration } from '../../../lib/format'
import { jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { CheckStrip } from '../../../ui/state/CheckStrip'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useText } from '../text'
import { type Group, lookOf, looksOf } from './taskGroups'

interface Props {
  group: Group
  onRun: (line: TaskLine) => void
}

/** Tasks of one name: a row, or a heading with a row for each host. */
export const TaskGroup = memo(function TaskGroup({ group, onRun }: Props) {
  const t = useText()
  const [first] = group.lines
  if (group.lines.length === 1)
    return (
      <li>
        <TaskRow line={first!} name={first!.name} onRun={onRun} />
      </li>
    )
  return (
    <li>
      <div className="row tasks-group">
        <Text fw={600} className="clip" component="h2" size="sm">
          {group.name}
        </Text>
        <Text size="xs" c="dimmed">
          {t.onHosts(group.lines.length)}
        </Text>
      </div>
      <ul className="tasks-list tasks-inner" aria-label={group.name}>
        {group.lines.map((line) => (
          <li key={line.id}>
            <TaskRow line={line} name={line.hostname || line.name} onRun={onRun} isInner />
          </li>
        ))}
      </ul>
    </li>
  )
})

interface RowProps {
  line: TaskLine
  name: string
  isInner?: boolean
  onRun: (line: TaskLine) => void
}

function TaskRow({ line, name, isInner, onRun }: RowProps) {
  const t = useText()
  const look = lookOf(line)
  return (
    <div className="row tasks-row" data-row>
      <StateIcon
        look={look ?? 'queue'}
        title={line.last_job ? jobStateText(line.last_job) : t.neverRan}
      />
      <div className="tasks-name">
        <Row gap={6} wrap="nowrap">
          <AppLink to={`/tasks/${line.id}`} className="tasks-link clip">
            {name}
          </AppLink>
          {line.enable ? null : <Badge size="xs">{t.off}</Badge>}
        </Row>
        <Row gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" className="clip">
            {[t.types[line.type], isInner ? '' : line.hostname, line.description]
              .filter(Boolean)
              .join(' · ')}
          </Text>
          <Tags tags={line.tags} />
        </Row>
      </div>
      <div className="tasks-beats">
        {line.beats ? (
          <CheckStrip data={looksOf(line.beats)} label={runsLabel(t.lastRuns(line.name), line)} />
        ) : null}
      </div>
      <Text size="xs" c="dimmed" className="tasks-last" component="div">
        <Last line={line} />
      </Text>
      <Button
        data-act="run"
        variant="default"
        size="compact-xs"
        leftSection={<Play size={12} />}
        disabled={!line.may_run || !line.enable}
        title={line.may_run ? undefined : t.mayNotRun}
        aria-label={t.runIt(isInner ? `${line.name}, ${line.hostname}` : line.name)}
        onClick={() => onRun(line)}
      >
        {t.run}
      </Button>
    </div>
  )
}

function runsLabel(label: string, line: TaskLine): string {
  return `${label}: ${line.runs.slice(0, 5).map(jobStateText).join(', ')}`
}

function Tags({ tags }: { tags: string[] }) {
  return tags.slice(0, 3).map((tag) => (
    <Badge
      key={tag}
      size="xs"
      className="tasks-tag"
      component={AppLink}
      to="/tasks"
      search={{ tag }}
    >
      {tag}
    </Badge>
  ))
}

function Last({ line }: { line: TaskLine }) {
  const t = useText()
  const job = line.last_job
  if (!job) return <>{t.neverRan}</>
  return (
    <AppLink to={`/jobs/${job.id}`} className="tasks-last-link">
      <Ago at={job.created} />
      {job.duration === null ? null : <span className="num">{duration(job.duration)}</span>}
    </AppLink>
  )
}
