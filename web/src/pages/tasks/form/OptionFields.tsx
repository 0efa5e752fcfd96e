import { Group, NumberInput, Select, Switch } from '@mantine/core'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import { NotifyChoice } from '../../../ui/notify/NotifyChoice'
import type { OwnChannels } from '../../../ui/notify/ownRule'
import type { FormProps } from '../draft/taskDraft'
import { useText } from '../text'
import { FormCard } from './FormCard'
import { HistoryFields } from './HistoryFields'
import { PairsField } from './PairsField'

const HOUR = 3_600_000

/** Options of a task; all have a default, so they are collapsed. */
export function OptionFields(props: FormProps) {
  const t = useText()
  const { task, errors } = props
  const isScript = task.type === 'script'
  const hasRun = isScript || task.type === 'scraper'
  return (
    <FormCard title={t.options}>
      {hasRun ? (
        <OptionGroup
          title={t.groups.repeat}
          summary={task.retry ? t.retry : undefined}
          hasErrors={hasErrorIn(errors, ['concurrency', 'retry'])}
        >
          <Running {...props} />
        </OptionGroup>
      ) : null}
      <OptionGroup
        title={t.groups.waiting}
        hasErrors={hasErrorIn(errors, ['expires', 'grace_time'])}
      >
        <Waiting {...props} />
      </OptionGroup>
      <OptionGroup title={t.groups.history} hasErrors={hasErrorIn(errors, ['history'])}>
        <HistoryFields {...props} />
      </OptionGroup>
      {isScript ? (
        <OptionGroup
          title={t.groups.result}
          hasErrors={hasErrorIn(errors, ['default_state_evaluation'])}
        >
          <ResultFields {...props} />
        </OptionGroup>
      ) : null}
      {isScript ? (
        <OptionGroup
          title={t.env}
          summary={Object.keys(task.env ?? {}).join(', ')}
          hasErrors={hasErrorIn(errors, ['env'])}
        >
          <EnvironmentField {...props} />
        </OptionGroup>
      ) : null}
    </FormCard>
  )
}

/** Whether people are notified of a failure, and which channels get it. */
export function NotifyFields({ task, set, readOnly, own }: FormProps & { own: OwnChannels }) {
  const t = useText()
  return (
    <FormCard title={t.groups.notify}>
      <Switch
        label={t.notify}
        disabled={readOnly}
        checked={task.notify}
        onChange={(event) => set({ notify: event.currentTarget.checked })}
      />
      {task.notify ? (
        <NotifyChoice
          own={own}
          readOnly={readOnly}
          failure={{
            kind: 'job.finished',
            objectIds: [task.id, task.host_id ?? ''].filter(Boolean),
            tags: task.tags,
          }}
        />
      ) : null}
    </FormCard>
  )
}

function Waiting({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  return (
    <>
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
      <Switch
        label={t.cancellable}
        disabled={readOnly}
        checked={!!task.cancellable}
        onChange={(event) => set({ cancellable: event.currentTarget.checked })}
      />
    </>
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

function ResultFields({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const toggle = (name: 'daemonize' | 'ignore_exit_code', label: string) => (
    <Switch
      label={label}
      disabled={readOnly}
      checked={!!task[name]}
      onChange={(event) => set({ [name]: event.currentTarget.checked })}
    />
  )
  return (
    <>
      {toggle('daemonize', t.daemonize)}
      {toggle('ignore_exit_code', t.ignoreExit)}
      <Select
        label={t.stateDefault}
        readOnly={readOnly}
        allowDeselect={false}
        data={Object.entries(t.states).map(([value, label]) => ({ value: value || 'none', label }))}
        value={task.default_state_evaluation || 'none'}
        error={errors.default_state_evaluation}
        onChange={(next) => set({ default_state_evaluation: next === 'none' ? '' : next })}
      />
    </>
  )
}

function EnvironmentField({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  return (
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
  )
}

export function faultsBelow(errors: Record<string, string>, start: string): string | undefined {
  const fault = Object.entries(errors).find(([field]) => field.startsWith(start))
  return fault && `${fault[0].slice(start.length)}: ${fault[1]}`
}
