import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import type { PostedIncident } from '../../../api/queries/monitoring/statusPage'
import { dateTime } from '../../../lib/format'
import type { Look } from '../../../lib/state'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useText } from '../text'

/** Incidents that people posted, each with its updates, newest first. */
export function PublicPosts({ title, posts }: { title: string; posts: PostedIncident[] }) {
  const t = useText()
  if (posts.length === 0) return null
  return (
    <section aria-label={title}>
      <Title order={2} size="h5" mb={8}>
        {title}
      </Title>
      <Stack gap="sm">
        {posts.map((post) => (
          <Paper withBorder key={post.id} p="md">
            <Group gap={8} wrap="nowrap">
              <StateIcon look={postLook(post)} />
              <Title order={3} size="h6">
                {post.title}
              </Title>
              <Badge ml="auto">{t.postStates[post.state] ?? post.state}</Badge>
            </Group>
            {post.updates.map((update) => (
              <div className="status-update" key={update.date}>
                <Text size="xs" c="dimmed">
                  {t.postStates[update.state] ?? update.state} ·{' '}
                  {dateTime(update.date, { dateStyle: 'medium', timeStyle: 'short' })}
                </Text>
                <Text size="sm" className="status-update-text">
                  {update.text}
                </Text>
              </div>
            ))}
          </Paper>
        ))}
      </Stack>
    </section>
  )
}

export function postLook({ ended, impact }: Pick<PostedIncident, 'ended' | 'impact'>): Look {
  if (ended) return 'ok'
  return impact === 'outage' ? 'fail' : 'warn'
}
