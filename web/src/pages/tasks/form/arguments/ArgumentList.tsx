import { ActionIcon, Button, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { GripVertical, Pencil, Plus, Trash2 } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, useRef, useState } from 'react'
import { type Argument, useKindNames } from '../../../../ui/arguments/kinds'
import { nameOf } from '../../../../ui/arguments/values'
import type { FormProps } from '../../draft/taskDraft'
import { newArgument } from '../../draft/templates'
import { FormCard } from '../FormCard'
import { ArgumentEditor } from './ArgumentEditor'
import { moveArgument, numberArguments } from './argumentOrder'
import { useText } from './text'

/** The arguments in their order. A row moves by dragging, or with the arrow keys on its grip. */
export function ArgumentList({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const list = task.task_arguments
  const [editing, setEditing] = useState<number | null>(null)
  const [announcement, setAnnouncement] = useState('')
  const drag = useRef<number | null>(null)
  const [over, setOver] = useState<number | null>(null)
  const give = (next: Argument[]) => set({ task_arguments: numberArguments(next) })
  const move = (from: number, to: number) => {
    if (to < 0 || to >= list.length || from === to) return
    setAnnouncement(t.moved(nameOf(list[from]!, from), to + 1))
    give(moveArgument(list, from, to))
    // The grip that was pressed stays under the fingers.
    requestAnimationFrame(() => document.getElementById(`grip-${to}`)?.focus())
  }
  // One beyond the end is new: it is added when its changes are applied.
  const edited = editing === null ? null : (list[editing] ?? newArgument('input'))
  return (
    <FormCard title={t.args}>
      {list.length ? (
        <ol className="task-arguments">
          {list.map((argument, n) => (
            <Row
              key={n}
              argument={argument}
              n={n}
              readOnly={readOnly}
              fault={faultAt(errors, n)}
              isOver={over === n}
              onEdit={() => setEditing(n)}
              onRemove={() => give(list.filter((_, i) => i !== n))}
              onMove={(by) => move(n, n + by)}
              onDragStart={() => {
                drag.current = n
              }}
              onDragOver={() => setOver(n)}
              onDrop={() => {
                if (drag.current !== null) move(drag.current, n)
                drag.current = null
                setOver(null)
              }}
            />
          ))}
        </ol>
      ) : (
        <Text size="sm" c="dimmed">
          {t.none}
        </Text>
      )}
      {readOnly ? null : (
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Plus size={12} />}
          onClick={() => setEditing(list.length)}
          style={{ alignSelf: 'flex-start' }}
        >
          {t.add}
        </Button>
      )}
      <VisuallyHidden role="status">{announcement}</VisuallyHidden>
      {editing !== null && edited ? (
        <ArgumentEditor
          key={editing}
          value={edited}
          isNew={editing === list.length}
          readOnly={readOnly}
          errors={errors}
          index={editing}
          onClose={() => setEditing(null)}
          onChange={(next) => give([...list.slice(0, editing), next, ...list.slice(editing + 1)])}
        />
      ) : null}
    </FormCard>
  )
}

function faultAt(errors: Record<string, string>, n: number): string {
  const start = `task_arguments[${n}]`
  return Object.entries(errors).find(([field]) => field.startsWith(start))?.[1] ?? ''
}

interface RowProps {
  argument: Argument
  n: number
  readOnly: boolean
  fault: string
  isOver: boolean
  onEdit: () => void
  onRemove: () => void
  onMove: (by: number) => void
  onDragStart: () => void
  onDragOver: () => void
  onDrop: () => void
}

const STEPS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 }

function Row({ argument, n, readOnly, fault, isOver, ...on }: RowProps) {
  const t = useText()
  const kindNames = useKindNames()
  const name = nameOf(argument, n)
  const press = (event: KeyboardEvent) => {
    const by = STEPS[event.key]
    if (!by) return
    event.preventDefault()
    on.onMove(by)
  }
  const hold = (event: DragEvent) => {
    event.preventDefault()
    on.onDragOver()
  }
  return (
    <li className="task-argument" data-over={isOver} onDragOver={hold} onDrop={on.onDrop}>
      <UnstyledButton
        id={`grip-${n}`}
        className="task-grip num"
        draggable={!readOnly}
        disabled={readOnly}
        aria-label={t.move(name, n + 1)}
        onKeyDown={press}
        onDragStart={on.onDragStart}
      >
        <GripVertical size={14} aria-hidden="true" />
        {n + 1}
      </UnstyledButton>
      <div style={{ minWidth: 0 }}>
        <Text size="sm" className="clip">
          {name}
        </Text>
        <Text size="xs" c={fault ? 'var(--mantine-color-error)' : 'dimmed'} className="clip">
          {fault || [kindNames[argument.type], proposedText(argument)].filter(Boolean).join(' · ')}
        </Text>
      </div>
      <ActionIcon onClick={on.onEdit} aria-label={t.edit(name)}>
        <Pencil size={14} />
      </ActionIcon>
      {readOnly ? null : (
        <ActionIcon onClick={on.onRemove} aria-label={t.remove(name)}>
          <Trash2 size={14} />
        </ActionIcon>
      )}
    </li>
  )
}

function proposedText({ value }: Argument): string {
  if (value === null || value === '') return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
