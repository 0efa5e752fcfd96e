import { Button, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Terminal } from 'lucide-react'
import { useState } from 'react'
import { api, ok, ROOT, type Shape } from '../../api/client'
import { installAddressQuery } from '../../api/queries/monitoring/host'
import { useCan } from '../../app/session'
import { CopyField } from '../form/CopyField'
import { showError } from '../toast'
import { InstallAddress } from './InstallAddress'
import { installCommands, type Reachability, reachability } from './installAddresses'
import { useHostText } from './text'

interface InstallLineProps {
  /** The existing host that the machine becomes; without it the machine becomes a new host. */
  hostId?: string
  onToken?: (token: Shape<'TokenRecord'>) => void
}

function createToken(hostId?: string) {
  if (!hostId) return ok(api.POST('/api/enrolment', { body: {} }))
  return ok(api.POST('/host/{id}/enrolment', { params: { path: { id: hostId } }, body: {} }))
}

/** Creates an enrolment token and shows the command that turns a machine into a host. */
export function InstallLine(props: InstallLineProps) {
  const w = useHostText()
  const may = useCan()('host.edit')
  const { data: address } = useQuery({ ...installAddressQuery, enabled: may })
  if (!may) return <Text size="sm">{w.needsAdmin}</Text>
  // Without the answer (a failed request) the address of this page is used.
  return <Install {...props} reach={reachability(location.origin + ROOT, address)} />
}

function Install({ hostId, onToken, reach }: InstallLineProps & { reach: Reachability }) {
  const w = useHostText()
  const [address, setAddress] = useState<string | null>(null)
  const make = useMutation({
    mutationFn: () => createToken(hostId),
    onSuccess: onToken,
    onError: showError,
  })
  const token = make.data?.token
  return (
    <Stack gap={8} ta="left">
      <InstallAddress reach={reach} address={address} onChange={setAddress} />
      {token ? (
        <Commands root={address ?? reach.root} token={token} />
      ) : (
        <Button
          style={{ alignSelf: 'start' }}
          leftSection={<Terminal size={14} />}
          loading={make.isPending}
          onClick={() => make.mutate()}
        >
          {hostId ? w.createHostToken : w.makeLine}
        </Button>
      )}
    </Stack>
  )
}

function Commands({ root, token }: { root: string; token: string }) {
  const w = useHostText()
  const commands = installCommands(root, token)
  return (
    <Stack gap={6}>
      <Text size="sm">{w.asRoot}</Text>
      <CopyField value={commands.withSudo} label={w.installLine} />
      <Text size="sm">{w.asUser}</Text>
      <CopyField value={commands.plain} label={w.installLineUser} />
      <Text size="xs" c="dimmed">
        {w.lineOnce}
      </Text>
    </Stack>
  )
}
