import { Group, NumberInput, Select, Switch } from '@mantine/core'
import { NotifiedBy } from '../../../ui/notify/NotifiedBy'
import type { FormProps } from '../draft/taskDraft'
import { useText } from '../text'
import { FormCard } from './FormCard'
import { HistoryFields } from './HistoryFields'
import { PairsField } from './PairsField'

const HOUR = 3_600_000

/** What a task can do beyond being run; all have a usual value. */
export function OptionFields(props: FormProps) {
  const t = useText()
  const { task, set, errors, readOnly } = props
  const isScript = task.type === 'script'
  const hasRun = isScript || task.type === 'scraper'
  const toggle = (
    name: 'cancellable' | 'daemonize' | 'ignore_exit_code' | 'notify',
    label: string,
  ) => (
    <Switch
      label={label}
      disabled={readOnly}
      checked={!!task[name]}
      onChange={(event) => set({ [name]: event.currentTarget.checked })}
    />
  )
  return (
    <FormCard title={t.options}>
      {hasRun ? <Running {...props} /> : null}
      <HistoryFields {...props} />
      <NumberInput
        label={t.expires}
        min={0}
        readOnly={readOnly}
        value={task.expires / HOUR}
        error={errors.expires}
        onChange={(next) => set({ expires: Math.round(Number(next) * HOUR) })}
      />
      <NumberInput
        label={t.grace}
        min={0}
        readOnly={readOnly}
        value={task.grace_time}
        error={errors.grace_time}
        onChange={(next) => set({ grace_time: Number(next) })}
      />
      {toggle('cancellable', t.cancellable)}
      {isScript ? toggle('daemonize', t.daemonize) : null}
      {isScript ? toggle('ignore_exit_code', t.ignoreExit) : null}
      {toggle('notify', t.notify)}
      {task.notify ? (
        <NotifiedBy
          failure={{
            kind: 'job.finished',
            objectIds: [task.id, task.host_id ?? ''].filter(Boolean),
            tags: task.tags,
          }}
        />
      ) : null}
      {isScript ? <ScriptOptions {...props} /> : null}
    </FormCard>
  )
}

function Running(props: FormProps) {
  const t = useText()
  const { task, set, errors, readOnly } = props
  return (
    <>
      <NumberInput
        label={t.concurrency}
        description={t.concurrencyHint}
        min={1}
        readOnly={readOnly}
        value={task.concurrency ?? ''}
        error={errors.concurrency}
        onChange={(next) => set({ concurrency: next === '' ? null : Number(next) })}
      />
      <Switch
        label={t.retry}
        disabled={readOnly}
        checked={task.retry !== null}
        onChange={(event) =>
          set({
            retry: event.currentTarget.checked
              ? { times: 3, delay: 10_000, backoff: 2, on_lost: false }
              : null,
          })
        }
      />
      {task.retry ? <Retry {...props} /> : null}
    </>
  )
}

function Retry({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const retry = task.retry!
  const change = (more: Partial<typeof retry>) => set({ retry: { ...retry, ...more } })
  return (
    <>
      <Group gap={8} grow align="flex-end">
        <NumberInput
          label={t.retryTimes}
          min={0}
          readOnly={readOnly}
          value={retry.times}
          error={errors['retry.times']}
          onChange={(next) => change({ times: Number(next) })}
        />
        <NumberInput
          label={t.retryDelay}
          min={0}
          readOnly={readOnly}
          value={retry.delay / 1000}
          error={errors['retry.delay']}
          onChange={(next) => change({ delay: Math.round(Number(next) * 1000) })}
        />
      </Group>
      <NumberInput
        label={t.retryBackoff}
        min={1}
        max={10}
        decimalScale={2}
        readOnly={readOnly}
        value={retry.backoff}
        error={errors['retry.backoff']}
        onChange={(next) => change({ backoff: Number(next) })}
      />
      <Switch
        label={t.retryLost}
        disabled={readOnly}
        checked={retry.on_lost}
        onChange={(event) => change({ on_lost: event.currentTarget.checked })}
      />
    </>
  )
}

function ScriptOptions({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  return (
    <>
      <Select
        label={t.stateDefault}
        readOnly={readOnly}
        allowDeselect={false}
        data={Object.entries(t.states).map(([value, label]) => ({ value: value || 'none', label }))}
        value={task.default_state_evaluation || 'none'}
        error={errors.default_state_evaluation}
        onChange={(next) => set({ default_state_evaluation: next === 'none' ? '' : next })}
      />
      <PairsField
        label={t.env}
        hint={t.envHint}
        bad={t.envBad}
        sign="="
        value={task.env ?? {}}
        error={errors.env ?? faultsBelow(errors, 'env.')}
        readOnly={readOnly}
        onChange={(env) => set({ env })}
      />
    </>
  )
}

export function faultsBelow(errors: Record<string, string>, start: string): string | undefined {
  const fault = Object.entries(errors).find(([field]) => field.startsWith(start))
  return fault && `${fault[0].slice(start.length)}: ${fault[1]}`
}
