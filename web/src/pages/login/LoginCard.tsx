import { Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Form } from '../../ui/form/Form'

interface Props {
  title: string
  children: ReactNode
  error?: Error | null
  onSubmit: () => void
}

/** A small form alone on the page: for everything before the sign-in. */
export function LoginCard({ title, children, error, onSubmit }: Props) {
  useEffect(() => {
    document.title = `${title} · Belvedere`
  }, [title])
  return (
    <Stack align="center" pt="12vh" px="md" pb="xl" component="main">
      <Text fw={650} size="lg" c="dimmed">
        Belvedere
      </Text>
      <Paper withBorder p="lg" w="min(380px, 100%)">
        <Form onSubmit={() => onSubmit()}>
          <Stack gap="sm">
            <Title order={1} size="h4">
              {title}
            </Title>
            {error ? (
              <Text size="sm" c="var(--mantine-color-error)" role="alert">
                {error.message}
              </Text>
            ) : null}
            {children}
          </Stack>
        </Form>
      </Paper>
    </Stack>
  )
}
