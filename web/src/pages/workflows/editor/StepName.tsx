import { TextInput } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { type Draft, type Node, nameFault } from '../../../ui/graph/graphDraft'
import { useText } from '../text'

/** The field that F2 focuses. */
export const STEP_NAME_ID = 'step-name'

interface Props {
  node: Node
  draft: Draft
  onName: (name: string) => void
}

/** The name of a step; another one counts with Enter or when the field is left. */
export function StepName({ node, draft, onName }: Props) {
  const t = useText()
  const [text, setText] = useState(node.id)
  const name = text.trim()
  const fault = nameFault(draft, node.id, name)
  const commit = () => {
    if (!fault && name !== node.id) onName(name)
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') commit()
    if (event.key === 'Escape') setText(node.id)
  }
  return (
    <TextInput
      id={STEP_NAME_ID}
      size="xs"
      label={t.stepName}
      value={text}
      error={fault ? t.nameFaults[fault] : undefined}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={press}
    />
  )
}
