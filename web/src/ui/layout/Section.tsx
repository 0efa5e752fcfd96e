import { Box, Group, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  /** A word next to the title. */
  aside?: ReactNode
  /** Buttons at the right end. */
  right?: ReactNode
  children: ReactNode
  padded?: boolean
}

/** A card with a heading; most pages consist of them. */
export function Section({ title, aside, right, children, padded }: Props) {
  return (
    <Paper withBorder component="section" aria-label={title}>
      <Group className="head section-head" wrap="nowrap">
        <Title order={2} size="h6">
          {title}
        </Title>
        {aside ? (
          <Text size="xs" c="dimmed" component="div" className="clip">
            {aside}
          </Text>
        ) : null}
        {right ? (
          <Group ml="auto" gap={8} wrap="nowrap">
            {right}
          </Group>
        ) : null}
      </Group>
      {padded ? <Box p="md">{children}</Box> : children}
    </Paper>
  )
}
