import { Group, NumberInput, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { hostNamesQuery, MAX_CHOICES } from '../../../api/queries/names'
import { interval } from '../../../lib/format'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import type { FormProps } from '../draft/taskDraft'
import { useText } from '../text'
import { FormCard } from './FormCard'

const USUAL_LIMIT_MS = 600_000

/** Host, the way of running, and how long it may take. */
export function ExecutionFields(props: FormProps) {
  const t = useText()
  const { task, set, errors, readOnly } = props
  const isScript = task.type === 'script'
  return (
    <FormCard title={t.where}>
      <HostField {...props} />
      {isScript ? (
        <TextInput
          label={t.runas}
          description={t.runasHint}
          classNames={{ input: 'mono' }}
          readOnly={readOnly}
          value={task.script_runas ?? ''}
          error={errors.script_runas}
          onChange={(event) => set({ script_runas: event.currentTarget.value })}
        />
      ) : null}
      <OptionGroup
        title={isScript ? t.groups.limits : t.timeout}
        summary={`${task.os_user ? `${task.os_user}, ` : ''}${interval(task.timeout ?? USUAL_LIMIT_MS)}`}
        hasErrors={hasErrorIn(errors, ['os_user', 'timeout'])}
      >
        {isScript ? (
          <TextInput
            label={t.osUser}
            description={t.osUserHint}
            readOnly={readOnly}
            value={task.os_user ?? ''}
            error={errors.os_user}
            onChange={(event) => set({ os_user: event.currentTarget.value })}
          />
        ) : null}
        <Limit {...props} />
      </OptionGroup>
    </FormCard>
  )
}

function HostField({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const { data: hosts = [] } = useQuery(hostNamesQuery)
  const data = hosts.map((host) => ({ value: host.id, label: host.name }))
  const { host_id: id } = task
  if (id && !hosts.some((host) => host.id === id))
    data.push({ value: id, label: task.hostname || id })
  return (
    <Select
      label={t.host}
      placeholder={t.chooseHost}
      required
      searchable
      allowDeselect={false}
      readOnly={readOnly}
      limit={MAX_CHOICES}
      data={data}
      value={id ?? null}
      error={errors.host_id ?? errors.hostname}
      onChange={(next) => set({ host_id: next })}
    />
  )
}

const UNITS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000 } as const
type Unit = keyof typeof UNITS

function unitOf(ms: number | null): Unit {
  if (ms === null) return 'minutes'
  return ms % UNITS.hours === 0 ? 'hours' : ms % UNITS.minutes === 0 ? 'minutes' : 'seconds'
}

function Limit({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const unit = unitOf(task.timeout)
  const number = task.timeout === null ? '' : task.timeout / UNITS[unit]
  const give = (n: string | number, of: Unit) =>
    set({ timeout: n === '' ? null : Math.round(Number(n) * UNITS[of]) })
  return (
    <Group gap={8} align="flex-start" wrap="nowrap">
      <NumberInput
        flex={1}
        label={t.timeout}
        description={t.timeoutHint}
        placeholder="10"
        min={0}
        decimalScale={3}
        readOnly={readOnly}
        value={number}
        error={errors.timeout}
        onChange={(next) => give(next, unit)}
      />
      <Select
        w={110}
        mt={42}
        aria-label={t.timeout}
        allowDeselect={false}
        readOnly={readOnly}
        data={(Object.keys(UNITS) as Unit[]).map((unit) => ({ value: unit, label: t[unit] }))}
        value={unit}
        onChange={(next) => next && give(number === '' ? 10 : number, next as Unit)}
      />
    </Group>
  )
}
