import { Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { MAX_CHOICES } from '../../../api/queries/names'
import { ArgumentForm } from '../../../ui/arguments/ArgumentForm'
import { alignValues, firstValues } from '../../../ui/arguments/values'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import { runnableQuery, type Target } from '../../../ui/run/target'
import { keyOf, useTargets } from '../../../ui/run/targetList'
import { useText } from '../text'
import type { PartProps } from './TimeFields'

interface Props extends PartProps {
  target: Target | null
  /** Null: the target is fixed. */
  onTarget: ((target: Target) => void) | null
}

/** The target, its arguments, and what happens if runs overlap. */
export function TargetFields(props: Props) {
  const t = useText()
  const { draft, set, errors, readOnly, target, onTarget } = props
  const choose = (data: Record<string, string>) =>
    Object.entries(data).map(([value, label]) => ({ value, label }))
  return (
    <Stack gap={10}>
      <TargetField target={target} onTarget={onTarget} error={errors.task_id} />
      <TextInput
        label={t.name}
        placeholder={target?.name}
        readOnly={readOnly}
        value={draft.name}
        error={errors.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {target ? <Arguments {...props} target={target} /> : null}
      <OptionGroup
        title={t.overlapGroup}
        summary={`${t.overlapOptions[draft.overlap] ?? ''}, ${t.missedOptions[draft.missed] ?? ''}`}
        hasErrors={hasErrorIn(errors, ['overlap', 'missed'])}
      >
        <Select
          label={t.overlap}
          allowDeselect={false}
          readOnly={readOnly}
          data={choose(t.overlapOptions)}
          value={draft.overlap}
          onChange={(overlap) => overlap && set({ overlap })}
        />
        <Select
          label={t.missed}
          allowDeselect={false}
          readOnly={readOnly}
          data={choose(t.missedOptions)}
          value={draft.missed}
          onChange={(missed) => missed && set({ missed })}
        />
      </OptionGroup>
      <Switch
        label={t.enable}
        disabled={readOnly}
        checked={draft.enable}
        onChange={(event) => set({ enable: event.currentTarget.checked })}
      />
    </Stack>
  )
}

interface TargetProps {
  target: Target | null
  onTarget: ((target: Target) => void) | null
  error?: string
}

function TargetField({ target, onTarget, error }: TargetProps) {
  const t = useText()
  const targets = useTargets()
  const key = target && keyOf(target)
  return (
    <Select
      label={t.task}
      placeholder={t.choose}
      searchable
      required
      allowDeselect={false}
      readOnly={!onTarget}
      limit={MAX_CHOICES}
      data={targets.map((target) => ({ value: keyOf(target), label: target.name }))}
      value={key}
      error={error}
      onChange={(next) => {
        const choice = targets.find((target) => keyOf(target) === next)
        if (choice) onTarget?.(choice)
      }}
    />
  )
}

function Arguments({ draft, set, errors, target, onTarget }: Props & { target: Target }) {
  const t = useText()
  const { data } = useQuery(runnableQuery(target))
  const definitions = data?.arguments ?? []
  const isMissing = !!onTarget && definitions.length > 0 && draft.values === null
  // A new schedule begins with the defaults of the definitions.
  useEffect(() => {
    if (isMissing) set({ values: firstValues(definitions) })
  })
  if (definitions.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600} mb={6}>
        {t.args}
      </Text>
      <ArgumentForm
        arguments={definitions}
        value={draft.values ? alignValues(definitions, draft.values) : firstValues(definitions)}
        onChange={(values) => set({ values })}
        errors={errors}
      />
    </div>
  )
}
