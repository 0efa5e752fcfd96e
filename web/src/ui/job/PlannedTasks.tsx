import { Text } from '@mantine/core'
import type { Shape } from '../../api/client'
import { AppLink } from '../AppLink'
import { ArgumentChips } from './ArgumentChips'
import './job.css'
import { useText } from './text'

type Planned = Shape<'PlannedTask'>

/** The plan of an approval: each task with its host, script and arguments. */
export function PlannedTasks({ planned }: { planned: Planned[] }) {
  const t = useText()
  if (planned.length === 0)
    return (
      <Text size="xs" c="dimmed">
        {t.nothingRuns}
      </Text>
    )
  return (
    <ol className="planned" aria-label={t.willRun}>
      {planned.map((plan, n) => (
        <li key={n}>
          <AppLink to={`/tasks/${plan.task_id}`}>{plan.name}</AppLink>
          {plan.hostname ? ` ${t.onHost} ${plan.hostname}` : ''}
          {plan.script_filename ? (
            <>
              {' · '}
              <code>{plan.script_filename}</code>
            </>
          ) : null}
          {plan.url ? ` · ${plan.url}` : ''} <Values values={plan.arguments} />
        </li>
      ))}
    </ol>
  )
}

function Values({ values }: { values: Planned['arguments'] }) {
  const t = useText()
  if (values == null) return <Text span size="xs" c="dimmed">{`· ${t.argumentsLater}`}</Text>
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  return texts.length ? <ArgumentChips texts={texts} /> : null
}
