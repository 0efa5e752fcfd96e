import { Button, Menu } from '@mantine/core'
import { ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { DURATIONS } from './actions'
import { useText } from './text'

const HOUR = 3_600_000

/** A button that asks for how long. */
export function DurationMenu({
  label,
  icon,
  onPick,
}: {
  label: string
  icon: ReactNode
  onPick: (ms: number | null) => void
}) {
  const t = useText()
  const word = (ms: number | null) => {
    if (ms === null) return t.untilEnded
    if (ms === 24 * HOUR) return t.forDay
    return ms === 168 * HOUR ? t.forWeek : t.forHours(ms / HOUR)
  }
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={icon}
          rightSection={<ChevronDown size={12} />}
        >
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {DURATIONS.map((ms) => (
          <Menu.Item key={ms ?? 0} onClick={() => onPick(ms)}>
            {label} {word(ms)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
