import { Badge, Button, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type DragEvent, useState } from 'react'
import { type Argument, nameOf } from '../../../../ui/arguments/values'
import {
  type Draft,
  isLoop,
  type Node,
  nodesBefore,
  withChange,
} from '../../../../ui/graph/graphDraft'
import { useText } from '../../text'
import {
  type Choice,
  choicesOf,
  keyOf,
  placeholderOf,
  previewOf,
  type Sample,
  type Source,
  sourceOf,
  withSource,
} from './sources'
import { useArguments, useSamples } from './useSamples'

const DRAGGED = 'application/x-belvedere-argument'

interface Props {
  workflowId: string
  node: Node
  draft: Draft
  onChange: (draft: Draft) => void
}

/** Which values of earlier steps become the arguments of a step: picked from a list, or dragged. */
export function ArgumentSources({ workflowId, node, draft, onChange }: Props) {
  const t = useText()
  const definitions = useArguments(node)
  const before = nodesBefore(draft, node.id)
  const samples = useSamples(workflowId, before)
  const isFirst =
    draft.start === node.id &&
    !draft.edges.some((edge) => edge.target === node.id && isLoop(draft, edge))
  if (!definitions?.length) return null
  if (isFirst) return <Hint text={t.argumentsOfRun} />
  const names = { output: t.outputNumber, input: t.inputNamed }
  const choices = choicesOf(before, samples, names)
  const sources = node.arguments ?? []
  const isChosen = sources.length > 0
  const set = (position: number, source: Source) =>
    onChange(
      withChange(draft, node.id, {
        arguments: withSource(sources, position, source, definitions.length, before[0]),
      }),
    )
  return (
    <Stack gap={8} component="section" aria-label={t.argumentsTitle}>
      <Hint text={isChosen ? undefined : t.argumentsInOrder} />
      {definitions.map((definition, n) =>
        definition.type === 'fixed' ? null : (
          <SourceField
            key={n}
            definition={definition}
            position={n}
            source={sources[n] ?? null}
            choices={choices}
            samples={samples}
            onChange={(source) => set(n, source)}
          />
        ),
      )}
      <Chips choices={choices} />
      {isChosen ? (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => onChange(withChange(draft, node.id, { arguments: [] }))}
        >
          {t.argumentsReset}
        </Button>
      ) : null}
    </Stack>
  )
}

function Hint({ text }: { text?: string }) {
  const t = useText()
  return (
    <div>
      <Text size="sm" fw={600}>
        {t.argumentsTitle}
      </Text>
      {text ? (
        <Text size="xs" c="dimmed">
          {text}
        </Text>
      ) : null}
    </div>
  )
}

interface FieldProps {
  definition: Argument
  position: number
  /** None: the output of the step before, by position. */
  source: Source | null
  choices: Choice[]
  samples: ReadonlyMap<string, Sample>
  onChange: (source: Source) => void
}

function SourceField({ definition, position, source, choices, samples, onChange }: FieldProps) {
  const t = useText()
  const [isTarget, setTarget] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setTarget(false)
    const key = event.dataTransfer.getData(DRAGGED)
    if (!key) return
    // A value that is dropped on a template becomes a part of its text.
    if (source?.template === undefined) onChange(sourceOf(key))
    else onChange({ template: source.template + placeholderOf(sourceOf(key)) })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the list inside does the same by keys
    <div
      className="flow-source"
      data-target={isTarget}
      onDragOver={(event) => {
        event.preventDefault()
        setTarget(true)
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={drop}
    >
      <Select
        size="xs"
        searchable
        allowDeselect={false}
        label={nameOf(definition, position)}
        placeholder={t.argumentInOrder(position + 1)}
        data={optionsOf(choices, source, t)}
        value={source ? keyOf(source) : null}
        onChange={(key) => key && onChange(sourceOf(key))}
      />
      {source?.template !== undefined ? (
        <TemplateInput
          label={t.templateOf(nameOf(definition, position))}
          template={source.template}
          samples={samples}
          onChange={onChange}
        />
      ) : null}
      {source && !source.node && source.template === undefined ? (
        <TextInput
          size="xs"
          mt={4}
          aria-label={t.fixedValueOf(nameOf(definition, position))}
          placeholder={t.fixedValue}
          value={fixedText(source.value)}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
        />
      ) : null}
      {source?.node ? (
        <MemberInput key={keyOf(source)} source={source} onChange={onChange} />
      ) : null}
    </div>
  )
}

interface TemplateProps {
  label: string
  template: string
  samples: ReadonlyMap<string, Sample>
  onChange: (source: Source) => void
}

/** A text with values of earlier steps, and a preview with those of the newest run. */
function TemplateInput({ label, template, samples, onChange }: TemplateProps) {
  const t = useText()
  const preview = previewOf(template, samples)
  return (
    <>
      <Textarea
        size="xs"
        mt={4}
        autosize
        minRows={1}
        maxRows={6}
        maxLength={4000}
        aria-label={label}
        placeholder={t.templateHelp}
        value={template}
        onChange={(event) => onChange({ template: event.currentTarget.value })}
      />
      {preview !== template ? (
        <Text size="xs" c="dimmed" role="status" aria-label={t.preview}>
          {t.preview}: {preview.slice(0, 400)}
        </Text>
      ) : null}
    </>
  )
}

function fixedText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A member deeper inside than the list offers: `user.email`. */
function MemberInput({ source, onChange }: { source: Source; onChange: (next: Source) => void }) {
  const t = useText()
  const [text, setText] = useState((source.keys ?? []).join('.'))
  const { keys: _, ...rest } = source
  return (
    <TextInput
      size="xs"
      mt={4}
      label={t.member}
      placeholder={t.memberHelp}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => {
        const keys = text.split('.').filter(Boolean)
        if (keys.join('.') !== (source.keys ?? []).join('.'))
          onChange(keys.length ? { ...rest, keys } : rest)
      }}
    />
  )
}

function optionsOf(choices: Choice[], source: Source | null, t: ReturnType<typeof useText>) {
  const withExample = ({ label, example }: Choice) => (example ? `${label}: ${example}` : label)
  const groups = [...new Set(choices.map((choice) => choice.node))].map((node) => ({
    group: node,
    items: choices
      .filter((choice) => choice.node === node)
      .map((choice) => ({
        value: keyOf(choice.source),
        label: `${node} › ${withExample(choice)}`,
      })),
  }))
  const isOffered = !source?.node || choices.some((each) => keyOf(each.source) === keyOf(source))
  const other = isOffered ? [] : [{ value: keyOf(source!), label: sourceText(source!, t) }]
  const fixed = [
    ...other,
    { value: 'fixed', label: t.fixedValue },
    { value: 'template', label: t.template },
  ]
  return [...groups, { group: t.otherValues, items: fixed }]
}

function sourceText(source: Source, t: ReturnType<typeof useText>): string {
  const n = (source.index ?? 0) + 1
  const part = source.part === 'input' ? t.inputNamed(String(n)) : t.outputNumber(n)
  return [source.node, part, ...(source.keys ?? [])].join(' › ')
}

/** The values of the newest run; each can be dragged to an argument. */
function Chips({ choices }: { choices: Choice[] }) {
  const t = useText()
  const examples = choices.filter((choice) => choice.example)
  if (examples.length === 0) return null
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {t.dragValues}
      </Text>
      <Group gap={4}>
        {examples.map((choice) => (
          <Badge
            key={keyOf(choice.source)}
            component="span"
            size="sm"
            variant="default"
            className="flow-chip"
            title={`${choice.node} › ${choice.label}: ${choice.example}`}
            draggable
            onDragStart={(event: DragEvent) =>
              event.dataTransfer.setData(DRAGGED, keyOf(choice.source))
            }
          >
            {choice.node} › {choice.label}
          </Badge>
        ))}
      </Group>
    </div>
  )
}
