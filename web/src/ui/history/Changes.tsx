import { Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { Shape } from '../../api/client'
import { definitionAuditQuery } from '../../api/queries/automation/task'
import { useCan } from '../../app/session'
import { ChangedField } from '../editConflict/ChangedFields'
import { changedFields } from '../editConflict/heldVersion'
import { QueryResult } from '../layout/QueryResult'
import { Ago } from '../state/Time'
import { ActionName } from './ActionName'
import { useText } from './text'

interface Props {
  object: 'task' | 'workflow'
  id: string
  /** The fields that count, where not all of them do. */
  differing?: (before: object, after: object) => string[]
}

/** Who changed a definition, when, and which fields, from the audit log. */
export function Changes(props: Props) {
  const t = useText()
  const may = useCan()('audit.read')
  return may ? <Rows {...props} /> : <Text size="sm">{t.noAudit}</Text>
}

function Rows({ object, id, differing = changedFields }: Props) {
  const t = useText()
  const query = useQuery(definitionAuditQuery(object, id))
  return (
    <QueryResult query={query} lines={3}>
      {(rows) =>
        rows.length === 0 ? (
          <Text size="sm">{t.noChanges}</Text>
        ) : (
          rows.map((row) => <Row key={row.id} row={row} differing={differing} />)
        )
      }
    </QueryResult>
  )
}

type RowProps = Required<Pick<Props, 'differing'>> & { row: Shape<'AuditRecord'> }

function Row({ row, differing }: RowProps) {
  const [isOpen, setOpen] = useState(false)
  const [before, after] = [asObject(row.before), asObject(row.after)]
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <div className="change-row">
      <UnstyledButton
        className="change-head"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Chevron size={14} aria-hidden />
        <Text span size="sm">
          <ActionName code={row.action} />
        </Text>
        <Text span size="sm" c="dimmed">
          {row.user} · <Ago at={row.date} />
        </Text>
      </UnstyledButton>
      {isOpen ? (
        <Stack gap={8} p="xs">
          {differing(before, after).map((name) => (
            <ChangedField key={name} name={name} before={before[name]} after={after[name]} />
          ))}
        </Stack>
      ) : null}
    </div>
  )
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
