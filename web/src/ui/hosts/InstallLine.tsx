import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Terminal } from 'lucide-react'
import { api, ok, ROOT, type Shape } from '../../api/client'
import { useCan } from '../../app/session'
import { CopyField } from '../form/CopyField'
import { useMonitoringText } from '../monitoring/text'
import { showError } from '../toast'

export function installLine(token: string, root = location.origin + ROOT): string {
  return `curl -fsSL ${root}-/install.sh | BELVEDERE_ENROLMENT_TOKEN=${token} sh`
}

interface InstallLineProps {
  /** The existing host that the machine becomes; without it the machine becomes a new host. */
  hostId?: string
  onToken?: (token: Shape<'TokenRecord'>) => void
}

function createToken(hostId?: string) {
  if (!hostId) return ok(api.POST('/api/enrolment', { body: {} }))
  return ok(api.POST('/host/{id}/enrolment', { params: { path: { id: hostId } }, body: {} }))
}

/** Makes an enrolment token and shows the one line that turns a machine into a host. */
export function InstallLine({ hostId, onToken }: InstallLineProps) {
  const w = useMonitoringText()
  const may = useCan()('host.edit')
  const make = useMutation({
    mutationFn: () => createToken(hostId),
    onSuccess: onToken,
    onError: showError,
  })
  if (!may) return <Text size="sm">{w.needsAdmin}</Text>
  if (!make.data?.token)
    return (
      <Button
        leftSection={<Terminal size={14} />}
        loading={make.isPending}
        onClick={() => make.mutate()}
      >
        {hostId ? w.createHostToken : w.makeLine}
      </Button>
    )
  return (
    <Stack gap={6} ta="left">
      <CopyField value={installLine(make.data.token)} label={w.installLine} />
      <Text size="xs" c="dimmed">
        {w.lineOnce}
      </Text>
    </Stack>
  )
}
