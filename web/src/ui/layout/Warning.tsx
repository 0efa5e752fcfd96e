import { Alert, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

/** A warning with a title in the colour of text: yellow on yellow cannot be read. */
export function Warning({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Alert color="yellow" mb="sm" icon={<TriangleAlert size={16} />} role="status">
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {children}
    </Alert>
  )
}
