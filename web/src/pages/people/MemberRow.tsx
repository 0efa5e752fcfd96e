import { ActionIcon, Badge, Box, Menu, Select, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Crown, Ellipsis, KeyRound, ShieldOff, UserCheck, UserMinus, UserX } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { hasLevel, LEVELS } from '../../app/permissions'
import { useCan, useProfile } from '../../app/session'
import { ConfirmDialog } from '../../ui/form/ConfirmDialog'
import { Initials } from '../../ui/layout/Initials'
import { useWords } from '../../ui/text'
import { showError, showSuccess } from '../../ui/toast'
import { useText } from './text'

type Member = Shape<'MemberRecord'>

function useChange(member: Member, onLink: (link: Shape<'LinkRecord'>) => void) {
  const client = useQueryClient()
  const t = useText()
  const params = { path: { id: member.id } }
  return useMutation({
    mutationFn: (body: Shape<'MemberChange'>) =>
      ok(api.PATCH('/api/member/{id}', { params, body })),
    onError: showError,
    onSuccess: (changed) => {
      showSuccess(t.changed)
      // The previous invitation became invalid.
      if (changed.invitation) onLink(changed.invitation)
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['member'] }),
  })
}

export function MemberRow({
  member,
  onLink,
}: {
  member: Member
  onLink: (link: Shape<'LinkRecord'>) => void
}) {
  const t = useText()
  const profile = useProfile()
  const change = useChange(member, onLink)
  const isMe = member.user_id === profile.id
  // A person cannot edit members above their own level, and an owner is changed only by a transfer.
  const mayEdit =
    useCan()('member.edit') &&
    !isMe &&
    member.credential !== 'owner' &&
    hasLevel(profile.credential, member.credential as 'viewer')
  const name = member.user.name || member.user.username
  return (
    <div role="listitem" className="row people-row">
      <Initials name={name} size={28} />
      <Box miw={0}>
        <Text size="sm" fw={550} className="clip">
          {name} {isMe ? <Badge size="xs">{t.you}</Badge> : null}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {member.user.email}
        </Text>
      </Box>
      <Text size="xs" c="dimmed" className="clip people-tags">
        {member.tags.map((tag) => (tag.v ? `${tag.k}:${tag.v}` : tag.k)).join(', ')}
      </Text>
      <Text size="xs" className="hide-sm">
        {member.disabled ? t.disabled : member.invited ? t.invited : t.active}
      </Text>
      {mayEdit ? (
        <Select
          size="xs"
          aria-label={t.levelOf(name)}
          allowDeselect={false}
          disabled={change.isPending}
          data={LEVELS.filter((level) => level !== 'owner' && hasLevel(profile.credential, level))}
          value={member.credential}
          onChange={(credential) =>
            credential && credential !== member.credential && change.mutate({ credential })
          }
        />
      ) : (
        <Text size="sm">{member.credential}</Text>
      )}
      <MemberMenu member={member} onLink={onLink} change={change.mutate} mayEdit={mayEdit} />
    </div>
  )
}

interface MenuProps {
  member: Member
  mayEdit: boolean
  onLink: (link: Shape<'LinkRecord'>) => void
  change: (body: Shape<'MemberChange'>) => void
}

function MemberMenu({ member, mayEdit, onLink, change }: MenuProps) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const can = useCan()
  const [dialog, setDialog] = useState<'remove' | 'hand' | 'factor' | null>(null)
  const params = { path: { id: member.id } }
  const name = member.user.name || member.user.username
  const settled = () => client.invalidateQueries({ queryKey: ['member'] })
  const link = () => ok(api.POST('/api/member/{id}/reset', { params })).then(onLink, showError)
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/api/member/{id}', { params })),
    onError: showError,
    onSuccess: () => setDialog(null),
    onSettled: settled,
  })
  const hand = useMutation({
    mutationFn: () => ok(api.PUT('/api/customer/owner', { body: { member_id: member.id } })),
    onError: showError,
    onSuccess: () => location.reload(),
  })
  const dropFactor = useMutation({
    mutationFn: () => ok(api.DELETE('/api/member/{id}/second-factor', { params })),
    onError: showError,
    onSuccess: () => setDialog(null),
    onSettled: settled,
  })
  if (!mayEdit) return <span />
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={`${w.actions}: ${name}`}>
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<KeyRound size={14} />} onClick={link}>
            {member.invited ? t.newInvitation : t.resetLink}
          </Menu.Item>
          {member.second_factor && can('token.edit') ? (
            <Menu.Item leftSection={<ShieldOff size={14} />} onClick={() => setDialog('factor')}>
              {t.resetFactor}
            </Menu.Item>
          ) : null}
          <Menu.Item
            leftSection={member.disabled ? <UserCheck size={14} /> : <UserX size={14} />}
            onClick={() => change({ disabled: !member.disabled })}
          >
            {member.disabled ? t.enable : t.disable}
          </Menu.Item>
          {can('organization.edit') && !member.invited ? (
            <Menu.Item leftSection={<Crown size={14} />} onClick={() => setDialog('hand')}>
              {t.handOver}
            </Menu.Item>
          ) : null}
          <Menu.Item
            color="red"
            leftSection={<UserMinus size={14} />}
            onClick={() => setDialog('remove')}
          >
            {t.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={dialog === 'remove'}
        title={`${t.remove}: ${name}`}
        action={t.remove}
        busy={remove.isPending}
        onClose={() => setDialog(null)}
        onConfirm={remove.mutate}
      >
        {t.removeBody}
      </ConfirmDialog>
      <ConfirmDialog
        opened={dialog === 'factor'}
        title={`${t.resetFactor}: ${name}`}
        action={t.resetFactor}
        busy={dropFactor.isPending}
        onClose={() => setDialog(null)}
        onConfirm={dropFactor.mutate}
      >
        {t.resetFactorBody}
      </ConfirmDialog>
      <ConfirmDialog
        opened={dialog === 'hand'}
        title={t.handOver}
        word={name}
        action={t.handOver}
        busy={hand.isPending}
        onClose={() => setDialog(null)}
        onConfirm={hand.mutate}
      >
        {t.handOverBody(name)}
      </ConfirmDialog>
    </>
  )
}
