import { Button, Group, Modal, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { byField } from '../../api/errors'
import { LEVELS, reaches } from '../../app/can'
import { useProfile } from '../../app/session'
import { useWords } from '../../ui/text'
import { failed } from '../../ui/toast'
import { useText } from './text'

interface Props {
  opened: boolean
  onClose: () => void
  onLink: (link: Shape<'LinkRecord'>) => void
}

export function InviteDialog({ opened, onClose, onLink }: Props) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const { credential } = useProfile()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [level, setLevel] = useState('user')
  const [tags, setTags] = useState<string[]>([])
  const invite = useMutation({
    mutationFn: () =>
      ok(api.POST('/api/member', { body: { user: { email, name }, credential: level, tags } })),
    onError: failed,
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ['member'] })
      onClose()
      setEmail('')
      setName('')
      setTags([])
      if (made.invitation) onLink(made.invitation)
    },
  })
  const faults = byField(invite.error)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t.inviteTitle}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          invite.mutate()
        }}
      >
        <Stack gap="sm">
          <TextInput
            data-autofocus
            required
            type="email"
            label={t.email}
            value={email}
            error={faults['user.email']}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <TextInput
            label={t.name}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Select
            label={t.level}
            description={t.may[level]}
            allowDeselect={false}
            data={LEVELS.filter((one) => one !== 'owner' && reaches(credential, one))}
            value={level}
            onChange={(value) => value && setLevel(value)}
          />
          <TagsInput label={t.tags} description={t.tagsHelp} value={tags} onChange={setTags} />
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" loading={invite.isPending}>
              {t.invite}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
