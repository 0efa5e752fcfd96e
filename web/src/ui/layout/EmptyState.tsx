import { Stack, Text, Title } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

/** An empty place that teaches the next step. */
export function EmptyState({
  icon: Icon,
  title,
  children,
}: {
  icon?: LucideIcon
  title: string
  children?: ReactNode
}) {
  return (
    <Stack align="center" gap={8} p="xl" ta="center">
      {Icon ? <Icon size={28} strokeWidth={1.4} aria-hidden="true" /> : null}
      <Title order={3} size="h6">
        {title}
      </Title>
      <Text size="sm" c="dimmed" maw={460} component="div">
        {children}
      </Text>
    </Stack>
  )
}
