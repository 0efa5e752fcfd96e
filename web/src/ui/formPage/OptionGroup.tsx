import { Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ChevronDown, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import './formPage.css'

interface Props {
  title: string
  /** The current values in a few words, next to the title. */
  summary?: string
  /** The server refused one of the fields: they must be visible. */
  hasErrors?: boolean
  children: ReactNode
}

/** Options that belong together and are seldom changed, below a heading that opens them. */
export function OptionGroup({ title, summary, hasErrors = false, children }: Props) {
  const [isOpened, { toggle }] = useDisclosure(false)
  const isVisible = isOpened || hasErrors
  const Chevron = isVisible ? ChevronDown : ChevronRight
  return (
    <div className="option-group">
      <UnstyledButton className="option-head" onClick={toggle} aria-expanded={isVisible}>
        <Group gap={6} wrap="nowrap">
          <Chevron size={14} style={{ flex: 'none' }} aria-hidden />
          <Text size="sm" fw={550} style={{ flex: 'none' }}>
            {title}
          </Text>
          {summary && !isVisible ? (
            <Text size="xs" c="dimmed" className="clip">
              {summary}
            </Text>
          ) : null}
        </Group>
      </UnstyledButton>
      {isVisible ? (
        <Stack gap={10} className="option-body">
          {children}
        </Stack>
      ) : null}
    </div>
  )
}

/** Whether the server refused one of these fields, or a part of one. */
export function hasErrorIn(errors: Record<string, string>, names: string[]): boolean {
  return Object.keys(errors).some((field) =>
    names.some(
      (name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
    ),
  )
}
