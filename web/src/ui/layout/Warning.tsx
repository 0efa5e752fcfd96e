import { Alert, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

interface Props {
  title: string
  /** The margin below; 0 in a form, whose fields have a gap. */
  mb?: 'sm' | 0
  children?: ReactNode
}

/** A warning with a title in the colour of text: yellow on yellow cannot be read. */
export function Warning({ title, mb = 'sm', children }: Props) {
  return (
    <Alert color="yellow" mb={mb} icon={<TriangleAlert size={16} />} role="status">
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {children}
    </Alert>
  )
}
