import { Group, NumberInput, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ArgumentField } from '../../../../ui/arguments/ArgumentField'
import { type Argument, KINDS, useKindNames } from '../../../../ui/arguments/kinds'
import { FormDialog } from '../../../../ui/form/FormDialog'
import { optionsIn, optionsText } from './argumentOrder'
import { useText } from './text'

interface Props {
  value: Argument
  index: number
  /** It joins the list when the dialog is sent. */
  isNew?: boolean
  readOnly: boolean
  errors: Record<string, string>
  onChange: (value: Argument) => void
  onClose: () => void
}

/** The definition of one argument. */
export function ArgumentEditor(props: Props) {
  const { value, index, isNew, readOnly, errors, onChange, onClose } = props
  const t = useText()
  const [draft, setDraft] = useState(value)
  const set = (change: Partial<Argument>) => setDraft((now) => ({ ...now, ...change }))
  const take = () => {
    if (!readOnly) onChange(draft)
    onClose()
  }
  return (
    <FormDialog
      title={isNew ? t.newTitle : t.title}
      action={isNew ? t.add : t.ok}
      onClose={onClose}
      onSubmit={take}
    >
      <fieldset className="task-plain" disabled={readOnly}>
        <Stack gap={10}>
          <Common draft={draft} set={set} />
          <Special draft={draft} set={set} errors={errors} index={index} />
          <Proposal draft={draft} set={set} />
          <Switches draft={draft} set={set} />
        </Stack>
      </fieldset>
    </FormDialog>
  )
}

interface PartProps {
  draft: Argument
  set: (change: Partial<Argument>) => void
}

function Common({ draft, set }: PartProps) {
  const t = useText()
  const kindNames = useKindNames()
  return (
    <>
      <TextInput
        data-autofocus
        label={t.label}
        value={draft.label}
        onChange={(event) => set({ label: event.currentTarget.value })}
      />
      <Select
        label={t.kind}
        allowDeselect={false}
        data={Object.entries(kindNames).map(([value, label]) => ({ value, label }))}
        value={draft.type}
        onChange={(type) => type && set({ type: type as Argument['type'], value: null })}
      />
      <Textarea
        label={t.help}
        autosize
        minRows={1}
        maxRows={4}
        value={draft.help}
        onChange={(event) => set({ help: event.currentTarget.value })}
      />
    </>
  )
}

function Special({
  draft,
  set,
  errors,
  index,
}: PartProps & { errors: Record<string, string>; index: number }) {
  const t = useText()
  const fault = (name: string) => errors[`task_arguments[${index}].${name}`]
  const [options, setOptions] = useState(() => optionsText(draft.options))
  return (
    <>
      {draft.type === 'regexp' ? (
        <TextInput
          label={t.pattern}
          classNames={{ input: 'mono' }}
          required
          value={draft.pattern}
          error={fault('pattern')}
          onChange={(event) => set({ pattern: event.currentTarget.value })}
        />
      ) : null}
      {draft.type === 'select' ? (
        <Textarea
          label={t.options}
          description={t.optionsHint}
          autosize
          minRows={3}
          maxRows={10}
          required
          value={options}
          error={fault('options')}
          onChange={(event) => {
            setOptions(event.currentTarget.value)
            set({ options: optionsIn(event.currentTarget.value) })
          }}
        />
      ) : null}
      {draft.type === 'remote-options' ? <Remote draft={draft} set={set} /> : null}
      {KINDS[draft.type].hasLength ? (
        <Group grow gap={8}>
          <NumberInput
            label={t.min}
            min={0}
            value={draft.charsmin ?? ''}
            error={fault('charsmin')}
            onChange={(next) => set({ charsmin: next === '' ? null : Number(next) })}
          />
          <NumberInput
            label={t.max}
            min={0}
            value={draft.charsmax ?? ''}
            error={fault('charsmax')}
            onChange={(next) => set({ charsmax: next === '' ? null : Number(next) })}
          />
        </Group>
      ) : null}
    </>
  )
}

function Remote({ draft, set }: PartProps) {
  const t = useText()
  return (
    <>
      <TextInput
        label={t.url}
        description={t.urlHint}
        value={draft.endpoint_url}
        onChange={(event) => set({ endpoint_url: event.currentTarget.value })}
      />
      <Group grow gap={8}>
        <TextInput
          label={t.idAttribute}
          placeholder="id"
          value={draft.id_attribute}
          onChange={(event) => set({ id_attribute: event.currentTarget.value })}
        />
        <TextInput
          label={t.textAttribute}
          placeholder="name"
          value={draft.text_attribute}
          onChange={(event) => set({ text_attribute: event.currentTarget.value })}
        />
      </Group>
    </>
  )
}

/** The default value has the same input as the value in the run dialog. */
function Proposal({ draft, set }: PartProps) {
  const t = useText()
  if (draft.type === 'file' || draft.type === 'remote-options') return null
  if (draft.type === 'fixed')
    return (
      <Textarea
        label={t.fixed}
        autosize
        minRows={1}
        maxRows={8}
        value={typeof draft.value === 'string' ? draft.value : JSON.stringify(draft.value ?? '')}
        onChange={(event) => set({ value: event.currentTarget.value })}
      />
    )
  const field = { ...draft, label: t.default, help: '', required: false, readonly: false }
  return (
    <ArgumentField
      definition={field}
      index={0}
      value={draft.value}
      onChange={(value) => set({ value })}
    />
  )
}

function Switches({ draft, set }: PartProps) {
  const t = useText()
  const isFixed = draft.type === 'fixed'
  const toggle = (name: 'required' | 'readonly' | 'masked' | 'multiple') => (
    <Switch
      label={t[name]}
      checked={draft[name]}
      onChange={(event) => set({ [name]: event.currentTarget.checked })}
    />
  )
  return (
    <>
      {isFixed ? null : toggle('required')}
      {isFixed ? null : toggle('readonly')}
      {toggle('masked')}
      {KINDS[draft.type].isChoice ? toggle('multiple') : null}
    </>
  )
}
