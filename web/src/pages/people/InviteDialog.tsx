import { Select, TagsInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { byField } from '../../api/errors'
import { hasLevel, LEVELS } from '../../app/permissions'
import { useProfile } from '../../app/session'
import { FormDialog } from '../../ui/form/FormDialog'
import { showError } from '../../ui/toast'
import { useText } from './text'

interface Props {
  opened: boolean
  onClose: () => void
  onLink: (link: Shape<'LinkRecord'>) => void
}

export function InviteDialog({ opened, onClose, onLink }: Props) {
  const t = useText()
  const client = useQueryClient()
  const { credential } = useProfile()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [level, setLevel] = useState('user')
  const [tags, setTags] = useState<string[]>([])
  const invite = useMutation({
    mutationFn: () =>
      ok(api.POST('/api/member', { body: { user: { email, name }, credential: level, tags } })),
    onError: showError,
    onSuccess: (invitation) => {
      void client.invalidateQueries({ queryKey: ['member'] })
      onClose()
      setEmail('')
      setName('')
      setTags([])
      if (invitation.invitation) onLink(invitation.invitation)
    },
  })
  const faults = byField(invite.error)
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.inviteTitle}
      action={t.invite}
      busy={invite.isPending}
      onSubmit={() => invite.mutate()}
    >
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
        data={LEVELS.filter((level) => level !== 'owner' && hasLevel(credential, level))}
        value={level}
        onChange={(value) => value && setLevel(value)}
      />
      <TagsInput label={t.tags} description={t.tagsHelp} value={tags} onChange={setTags} />
    </FormDialog>
  )
}
