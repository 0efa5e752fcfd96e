import { Paper, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** One part of the form. */
export function FormCard({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Title order={2} size="h6" mb={8}>
        {title}
      </Title>
      <Stack gap={10}>{children}</Stack>
    </Paper>
  )
}
