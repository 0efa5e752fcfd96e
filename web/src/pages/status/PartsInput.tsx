import { ActionIcon, Button, Fieldset, Group, Select, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ArrowUp, Plus, X } from 'lucide-react'
import { indicatorNamesQuery, MAX_CHOICES, monitorNamesQuery } from '../../api/queries/names'
import { type Kind, newPart, type PartDraft } from './partDraft'
import { useText } from './text'

interface Props {
  value: PartDraft[]
  errors: Record<string, string>
  onChange: (value: PartDraft[]) => void
}

/** The parts of a status page, in order. */
export function PartsInput({ value, errors, onChange }: Props) {
  const t = useText()
  return (
    <Fieldset legend={t.partsLegend}>
      <Stack gap="sm">
        {value.map((draft, i) => (
          <PartFields
            key={draft.key}
            draft={draft}
            errors={errors}
            place={i}
            onChange={(next) => onChange(value.map((old, n) => (n === i ? next : old)))}
            onRemove={() => onChange(value.filter((_, n) => n !== i))}
            onUp={
              i > 0 ? () => onChange(value.toSpliced(i, 1).toSpliced(i - 1, 0, draft)) : undefined
            }
          />
        ))}
        <Group>
          <Button
            variant="default"
            leftSection={<Plus size={14} />}
            onClick={() => onChange([...value, newPart()])}
          >
            {t.add}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}

interface PartProps {
  draft: PartDraft
  place: number
  errors: Record<string, string>
  onChange: (draft: PartDraft) => void
  onRemove: () => void
  onUp?: () => void
}

function PartFields({ draft, place, errors, onChange, onRemove, onUp }: PartProps) {
  const t = useText()
  const wrong = (field: string) => errors[`parts[${place}].${field}`]
  return (
    <div className="status-one">
      <TextInput
        label={t.partName}
        required
        value={draft.name}
        error={wrong('name') ?? errors[`parts[${place}]`]}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
      />
      <TextInput
        label={t.group}
        value={draft.group}
        error={wrong('group')}
        onChange={(event) => onChange({ ...draft, group: event.currentTarget.value })}
      />
      <Select
        label={t.kind}
        allowDeselect={false}
        data={Object.entries(t.kinds).map(([kind, label]) => ({ value: kind, label }))}
        value={draft.kind}
        onChange={(kind) => kind && onChange({ ...draft, kind: kind as Kind, value: '' })}
      />
      <MonitorField draft={draft} error={wrong('monitor_id')} onChange={onChange} />
      <Group gap={2} wrap="nowrap">
        <ActionIcon aria-label={t.moveUp(draft.name)} disabled={!onUp} onClick={onUp}>
          <ArrowUp size={14} />
        </ActionIcon>
        <ActionIcon aria-label={t.remove(draft.name)} onClick={onRemove}>
          <X size={14} />
        </ActionIcon>
      </Group>
    </div>
  )
}

function MonitorField({
  draft,
  error,
  onChange,
}: {
  draft: PartDraft
  error?: string
  onChange: (draft: PartDraft) => void
}) {
  const t = useText()
  const { data: monitors = [] } = useQuery(monitorNamesQuery)
  const { data: indicators = [] } = useQuery(indicatorNamesQuery)
  const pick = (value: string | null, name = '') =>
    onChange({ ...draft, value: value ?? '', name: draft.name || name })
  if (draft.kind === 'tag')
    return (
      <TextInput
        label={t.object}
        required
        value={draft.value}
        error={error}
        onChange={(event) => pick(event.currentTarget.value)}
      />
    )
  const choices = (draft.kind === 'monitor' ? monitors : indicators).map(({ id, name }) => ({
    value: id,
    label: name,
  }))
  // Before the names are read: the browser does not send a form whose required field is empty.
  if (draft.value && !choices.some(({ value }) => value === draft.value))
    choices.push({ value: draft.value, label: draft.name || draft.value })
  return (
    <Select
      label={t.object}
      required
      searchable
      allowDeselect={false}
      limit={MAX_CHOICES}
      data={choices}
      value={draft.value || null}
      error={error}
      onChange={(value, option) => pick(value, option?.label)}
    />
  )
}
