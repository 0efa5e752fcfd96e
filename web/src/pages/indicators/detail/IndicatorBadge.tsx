import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { address, api, ok, ROOT } from '../../../api/client'
import type { Indicator } from '../../../api/queries/monitoring/indicator'
import { useCan } from '../../../app/session'
import { CopyField } from '../../../ui/form/CopyField'
import { shortText } from '../../../ui/monitoring/display'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

/** Its small picture, and the link under which anybody sees it. */
export function IndicatorBadge({ indicator }: { indicator: Indicator }) {
  const t = useText()
  const may = useCan()('indicator.edit')
  const client = useQueryClient()
  const path = { params: { path: { id: indicator.id } } }
  const again = () => void client.invalidateQueries({ queryKey: ['indicator'] })
  const make = useMutation({
    mutationFn: () => ok(api.POST('/indicator/{id}/public', path)),
    onSuccess: again,
    onError: showError,
  })
  const revoke = useMutation({
    mutationFn: () => ok(api.DELETE('/indicator/{id}/public', path)),
    onSuccess: () => {
      make.reset()
      showSuccess(t.revoked)
      again()
    },
    onError: showError,
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
          src={address(`/indicator/${indicator.id}/badge.svg`, { v: indicator.version })}
          alt={`${indicator.title}: ${shortText(indicator)}`}
          height={20}
        />
        <Text size="xs" c="dimmed">
          {t.badgeBody}
        </Text>
        {link ? (
          <>
            <CopyField value={link} label={t.linkUrl} />
            <CopyField value={`![${indicator.title}](${link})`} label={t.markdown} />
            <Text size="xs">{t.linkOnce}</Text>
          </>
        ) : indicator.public ? (
          <Text size="xs">{t.linkThere}</Text>
        ) : null}
        {may ? (
          <Group gap={8}>
            <Button variant="default" loading={make.isPending} onClick={() => make.mutate()}>
              {indicator.public ? t.renewLink : t.makeLink}
            </Button>
            {indicator.public ? (
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
