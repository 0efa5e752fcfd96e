import { Button, FileButton, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok, ROOT } from '../../api/client'
import type { StatusPage } from '../../api/queries/monitoring/statusPage'
import { useText } from './text'

const MAX_LOGO = 128 * 1024
const TYPES = 'image/png,image/jpeg,image/webp'

/** The logo above the title of the page. */
export function LogoInput({ page }: { page: StatusPage }) {
  const t = useText()
  const client = useQueryClient()
  const params = { path: { id: page.id } }
  const save = useMutation({
    mutationFn: async (file: File | null) => {
      if (!file) return ok(api.DELETE('/statuspage/{id}/logo', { params }))
      if (file.size > MAX_LOGO) throw new Error(t.logoTooLarge)
      const content = await base64Of(file)
      return ok(api.PUT('/statuspage/{id}/logo', { params, body: { content } }))
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['statuspage'] }),
  })
  return (
    <Paper withBorder p="md" className="status-edit" component="section" aria-label={t.logo}>
      <Stack gap="sm">
        <Title order={2} size="h6">
          {t.logo}
        </Title>
        {page.logo && page.enable ? (
          <img
            className="status-logo"
            src={`${ROOT}-/status/${page.slug}/logo?v=${page.logo}`}
            alt={t.logoOf(page.title)}
          />
        ) : null}
        <Group gap={8}>
          <FileButton accept={TYPES} onChange={(file) => file && save.mutate(file)}>
            {(props) => (
              <Button {...props} variant="default" loading={save.isPending}>
                {t.chooseLogo}
              </Button>
            )}
          </FileButton>
          {page.logo ? (
            <Button variant="default" onClick={() => save.mutate(null)}>
              {t.removeLogo}
            </Button>
          ) : null}
        </Group>
        <Text size="xs" c="dimmed">
          {t.logoHelp}
        </Text>
        {save.error ? (
          <Text c="red.9" size="sm" role="alert">
            {save.error.message}
          </Text>
        ) : null}
      </Stack>
    </Paper>
  )
}

export async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
