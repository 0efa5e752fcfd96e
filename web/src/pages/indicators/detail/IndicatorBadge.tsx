import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { address, api, ok, ROOT } from '../../../api/client'
import type { Indicator } from '../../../api/queries/monitoring/indicator'
import { useCan } from '../../../app/session'
import { CopyField } from '../../../ui/form/CopyField'
import { brief } from '../../../ui/monitoring/display'
import { done, failed } from '../../../ui/toast'
import { useText } from '../text'

/** Its small picture, and the link under which anybody sees it. */
export function Badge({ one }: { one: Indicator }) {
  const t = useText()
  const may = useCan()('indicator.edit')
  const client = useQueryClient()
  const path = { params: { path: { id: one.id } } }
  const again = () => void client.invalidateQueries({ queryKey: ['indicator'] })
  const make = useMutation({
    mutationFn: () => ok(api.POST('/indicator/{id}/public', path)),
    onSuccess: again,
    onError: failed,
  })
  const revoke = useMutation({
    mutationFn: () => ok(api.DELETE('/indicator/{id}/public', path)),
    onSuccess: () => {
      make.reset()
      done(t.revoked)
      again()
    },
    onError: failed,
  })
  const link = make.data ? new URL(make.data.url, location.origin + ROOT).href : ''
  return (
    <Paper withBorder p="md">
      <Stack gap={8}>
        <Title order={2} size="h6">
          {t.badge}
        </Title>
        {/* The version makes the browser look again when the value changed. */}
        <img
          className="ind-badge"
          src={address(`/indicator/${one.id}/badge.svg`, { v: one.version })}
          alt={`${one.title}: ${brief(one)}`}
          height={20}
        />
        <Text size="xs" c="dimmed">
          {t.badgeBody}
        </Text>
        {link ? (
          <>
            <CopyField value={link} label={t.linkUrl} />
            <CopyField value={`![${one.title}](${link})`} label={t.markdown} />
            <Text size="xs">{t.linkOnce}</Text>
          </>
        ) : one.public ? (
          <Text size="xs">{t.linkThere}</Text>
        ) : null}
        {may ? (
          <Group gap={8}>
            <Button variant="default" loading={make.isPending} onClick={() => make.mutate()}>
              {one.public ? t.renewLink : t.makeLink}
            </Button>
            {one.public ? (
              <Button variant="default" loading={revoke.isPending} onClick={() => revoke.mutate()}>
                {t.revoke}
              </Button>
            ) : null}
          </Group>
        ) : null}
      </Stack>
    </Paper>
  )
}
