import { Button, Group, Pill, Stack, TagsInput, Text, Textarea, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { membersQuery } from '../../api/queries/access'
import { useHasLevel } from '../../app/session'
import { ConfirmDialog } from '../form/ConfirmDialog'
import { QueryResult } from '../layout/QueryResult'
import { tagText } from '../run/target'
import { useWords } from '../text'
import { showError, showSuccess } from '../toast'
import { type AclChange, aclQuery, changeAcl } from './acl'
import { useText } from './text'
import { VisibleTo } from './VisibleTo'
import type { AclObject } from './visibility'

/** The list of people and tags of one record, and whom it lets in. Managers read and change it. */
export function AclPanel({ object, id }: { object: AclObject; id: string }) {
  const t = useText()
  const may = useHasLevel('manager')
  const query = useQuery({ ...aclQuery(object, id), enabled: may })
  if (!may)
    return (
      <Text size="sm" c="dimmed">
        {t.readOnly}
      </Text>
    )
  return (
    <QueryResult query={query} lines={4}>
      {({ users, pending }) => (
        <Stack gap="lg">
          <NamedMembers object={object} id={id} users={users} pending={pending} />
          <VisibleTo object={object} acl={users} />
        </Stack>
      )}
    </QueryResult>
  )
}

function useChange(object: AclObject, id: string) {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: AclChange) => changeAcl(object, id, change),
    onSuccess: (acl) => {
      client.setQueryData(aclQuery(object, id).queryKey, acl)
      void client.invalidateQueries({ queryKey: [object] })
      showSuccess(t.changed)
    },
    onError: showError,
  })
}

interface NamedProps {
  object: AclObject
  id: string
  users: string[]
  pending: string[]
}

function NamedMembers({ object, id, users, pending }: NamedProps) {
  const t = useText()
  const change = useChange(object, id)
  const isRun = object === 'task' || object === 'workflow'
  const nobody = object === 'monitor' ? t.openBody : t.closedBody
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        {t.named}
      </Title>
      <Text size="xs" c="dimmed">
        {isRun ? t.namedBody : t.watchBody}
      </Text>
      {users.length ? (
        <Pill.Group>
          {users.map((user) => (
            <Pill
              key={user}
              size="md"
              withRemoveButton
              disabled={change.isPending}
              removeButtonProps={{
                'aria-label': t.remove(user),
                'aria-hidden': false,
                tabIndex: 0,
              }}
              onRemove={() => change.mutate({ action: 'remove', users: [user] })}
            >
              {pending.includes(user) ? t.pending(user) : user}
            </Pill>
          ))}
        </Pill.Group>
      ) : (
        <Text size="sm">{nobody}</Text>
      )}
      {pending.length ? (
        <Text size="xs" c="dimmed">
          {t.pendingBody}
        </Text>
      ) : null}
      <Adding users={users} change={change} />
      <ReplaceForm users={users} change={change} />
    </Stack>
  )
}

type Change = ReturnType<typeof useChange>

function Adding({ users, change }: { users: string[]; change: Change }) {
  const t = useText()
  const [added, setAdded] = useState<string[]>([])
  const { data: members = [] } = useQuery(membersQuery)
  const names = members.flatMap((member) => [member.user.email, ...member.tags.map(tagText)])
  const choices = [...new Set(names)].filter((name) => !users.includes(name.toLowerCase()))
  const add = () =>
    change.mutate({ action: 'add', users: added }, { onSuccess: () => setAdded([]) })
  return (
    <Group align="flex-end" gap={8} wrap="nowrap">
      <TagsInput
        flex={1}
        label={t.add}
        placeholder={added.length ? '' : t.addHint}
        data={choices}
        value={added}
        onChange={setAdded}
      />
      <Button onClick={add} disabled={added.length === 0} loading={change.isPending}>
        {t.addButton}
      </Button>
    </Group>
  )
}

function ReplaceForm({ users, change }: { users: string[]; change: Change }) {
  const t = useText()
  const w = useWords()
  const [text, setText] = useState<string | null>(null)
  const [clearing, setClearing] = useState(false)
  const lines = (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const replace = () =>
    change.mutate({ action: 'replace', users: lines }, { onSuccess: () => setText(null) })
  const clear = () => change.mutate({ action: 'clear' }, { onSuccess: () => setClearing(false) })
  if (text !== null)
    return (
      <Stack gap={8}>
        <Textarea
          label={t.replaceLabel}
          autosize
          minRows={4}
          maxRows={16}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group gap={8}>
          <Button onClick={replace} loading={change.isPending}>
            {t.replaceButton}
          </Button>
          <Button variant="default" onClick={() => setText(null)}>
            {w.cancel}
          </Button>
        </Group>
      </Stack>
    )
  return (
    <Group gap={8}>
      <Button variant="default" onClick={() => setText(users.join('\n'))}>
        {t.replace}
      </Button>
      <Button variant="default" disabled={users.length === 0} onClick={() => setClearing(true)}>
        {t.clear}
      </Button>
      <ConfirmDialog
        opened={clearing}
        title={t.clearTitle}
        action={t.clear}
        busy={change.isPending}
        onClose={() => setClearing(false)}
        onConfirm={clear}
      >
        {t.clearBody}
      </ConfirmDialog>
    </Group>
  )
}
