import { NativeSelect, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { choicesQuery, type JobFilter, PERIOD_NAMES } from '../../../api/queries/job'
import { shortId } from '../../../lib/jobId'
import { useJobText } from '../jobText'
import { useJobsText } from '../listText'

interface Props {
  filter: JobFilter
  onFilter: (change: Partial<JobFilter>) => void
}

/** As many as a list that is read; typing narrows it. */
const MAX_CHOICES = 50
/** Task, host, person, origin and time. */
export function MoreFilters({ filter, onFilter }: Props) {
  const t = useJobsText()
  const w = useJobText()
  const { data } = useQuery(choicesQuery)
  const origins = Object.entries(w.origin).map(([value, label]) => ({ value, label }))
  const all: [keyof JobFilter, string, string, { value: string; label: string }[]][] = [
    ['task', t.task, t.anyTask, data?.tasks ?? []],
    ['host', t.host, t.anyHost, data?.hosts ?? []],
    ['user', t.user, t.anyUser, data?.users ?? []],
    ['origin', t.origin, t.anyOrigin, origins],
  ]
  return (
    <>
      {all.map(([name, label, any, choices]) => (
        <Select
          key={name}
          size="xs"
          label={label}
          placeholder={any}
          searchable
          clearable
          limit={MAX_CHOICES}
          nothingFoundMessage={t.noMatch}
          comboboxProps={{ withinPortal: false }}
          value={filter[name] ?? null}
          onChange={(value) => onFilter({ [name]: value ?? undefined })}
          data={withChosen(choices, filter[name])}
        />
      ))}
      <Period filter={filter} onFilter={onFilter} />
    </>
  )
}

/** The object in the address stays visible, even if it was deleted. */
function withChosen(choices: { value: string; label: string }[], chosen: string | undefined) {
  if (!chosen || choices.some((choice) => choice.value === chosen)) return choices
  return [{ value: chosen, label: shortId(chosen) }, ...choices]
}

const CUSTOM = 'custom'

function Period({ filter, onFilter }: Props) {
  const t = useJobsText()
  const isSpan = !filter.to && (!filter.from || PERIOD_NAMES.includes(filter.from))
  const choose = (word: string) => {
    if (word !== CUSTOM) onFilter({ from: word || undefined, to: undefined })
    else onFilter({ from: new Date(Date.now() - 86_400_000).toISOString() })
  }
  return (
    <>
      <NativeSelect
        size="xs"
        label={t.period}
        value={isSpan ? (filter.from ?? '') : CUSTOM}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          ...['', ...PERIOD_NAMES].map((value) => ({ value, label: t.spans[value]! })),
          { value: CUSTOM, label: t.custom },
        ]}
      />
      {isSpan
        ? null
        : (['from', 'to'] as const).map((name) => (
            <TextInput
              key={name}
              size="xs"
              type="datetime-local"
              label={t[name]}
              value={local(filter[name])}
              onChange={(event) => onFilter({ [name]: moment(event.currentTarget.value) })}
            />
          ))}
    </>
  )
}

/** A moment as the browser's own field wants it, and back. */
function local(iso: string | undefined): string {
  if (!iso || Number.isNaN(Date.parse(iso))) return ''
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function moment(text: string): string | undefined {
  return text ? new Date(text).toISOString() : undefined
}
