import {
  Badge,
  Button,
  Group,
  Paper,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { byField } from '../../api/errors'
import { type PostedIncident, postedIncidentsQuery } from '../../api/queries/monitoring/statusPage'
import { DeleteButton } from '../../ui/form/EditForm'
import { Form } from '../../ui/form/Form'
import { QueryResult } from '../../ui/layout/QueryResult'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { showSuccess } from '../../ui/toast'
import { postLook } from './public/PublicPosts'
import { useText } from './text'

/** Incidents on a page, for the people who post them. */
export function PostedIncidents({ pageId }: { pageId: string }) {
  const t = useText()
  const query = useQuery(postedIncidentsQuery(pageId))
  const [isPosting, setPosting] = useState(false)
  return (
    <Paper withBorder p="md" className="status-edit" component="section" aria-label={t.posts}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h6">
            {t.posts}
          </Title>
          {isPosting ? null : (
            <Button variant="default" onClick={() => setPosting(true)}>
              {t.newPost}
            </Button>
          )}
        </Group>
        {isPosting ? <PostForm pageId={pageId} onDone={() => setPosting(false)} /> : null}
        <QueryResult query={query}>
          {(posts) =>
            posts.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t.noPosts}
              </Text>
            ) : (
              posts.map((post) => <PostRow key={post.id} pageId={pageId} post={post} />)
            )
          }
        </QueryResult>
      </Stack>
    </Paper>
  )
}

function PostRow({ pageId, post }: { pageId: string; post: PostedIncident }) {
  const t = useText()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const remove = async () => {
    const path = { id: pageId, incident_id: post.id }
    await ok(api.DELETE('/statuspage/{id}/incident/{incident_id}', { params: { path } }))
    void client.invalidateQueries({ queryKey: ['statuspage', pageId] })
  }
  return (
    <div className="status-post">
      <Group gap={8}>
        <StateIcon look={postLook(post)} />
        <Text fw={600}>{post.title}</Text>
        <Badge>{t.postStates[post.state] ?? post.state}</Badge>
        <Text size="xs" c="dimmed">
          <Ago at={post.started} />
        </Text>
        {isOpen ? null : (
          <Button variant="default" size="xs" ml="auto" onClick={() => setOpen(true)}>
            {t.addUpdate}
          </Button>
        )}
      </Group>
      {isOpen ? <PostForm pageId={pageId} post={post} onDone={() => setOpen(false)} /> : null}
      {isOpen ? <DeleteButton name={post.title} onDelete={remove} /> : null}
    </div>
  )
}

interface FormProps {
  pageId: string
  /** The incident that gets an update; none: a new one is posted. */
  post?: PostedIncident
  onDone: () => void
}

function PostForm({ pageId, post, onDone }: FormProps) {
  const t = useText()
  const client = useQueryClient()
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const [state, setState] = useState(post?.state ?? 'investigating')
  const [impact, setImpact] = useState('outage')
  const [notify, setNotify] = useState(true)
  const send = useMutation({
    mutationFn: () => {
      const update = { text, state, notify }
      return post
        ? ok(
            api.POST('/statuspage/{id}/incident/{incident_id}/update', {
              params: { path: { id: pageId, incident_id: post.id } },
              body: update,
            }),
          )
        : ok(
            api.POST('/statuspage/{id}/incident', {
              params: { path: { id: pageId } },
              body: { ...update, title, impact },
            }),
          )
    },
    onSuccess: () => {
      showSuccess(t.posted)
      void client.invalidateQueries({ queryKey: ['statuspage', pageId] })
      onDone()
    },
  })
  const errors = byField(send.error)
  return (
    <Form onSubmit={() => send.mutate()}>
      <Stack gap="sm">
        {post ? null : (
          <>
            <TextInput
              label={t.postTitle}
              required
              value={title}
              error={errors.title}
              onChange={(event) => setTitle(event.currentTarget.value)}
            />
            <Select
              label={t.impact}
              allowDeselect={false}
              data={choices(t.impacts)}
              value={impact}
              onChange={(value) => value && setImpact(value)}
            />
          </>
        )}
        <Select
          label={t.postState}
          allowDeselect={false}
          data={choices(t.postStates)}
          value={state}
          onChange={(value) => value && setState(value)}
        />
        <Textarea
          label={t.postText}
          required
          autosize
          minRows={2}
          value={text}
          error={errors.text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Switch
          label={t.notify}
          checked={notify}
          onChange={(event) => setNotify(event.currentTarget.checked)}
        />
        {send.error && !Object.keys(errors).length ? (
          <Text c="red.9" size="sm" role="alert">
            {send.error.message}
          </Text>
        ) : null}
        <Group gap={8}>
          <Button type="submit" loading={send.isPending}>
            {post ? t.postUpdate : t.post}
          </Button>
          <Button variant="default" onClick={onDone}>
            {t.discard}
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

function choices(words: Record<string, string>) {
  return Object.entries(words).map(([value, label]) => ({ value, label }))
}
