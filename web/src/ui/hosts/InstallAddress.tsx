import { Alert, Select, Stack, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { Fragment } from 'react'
import { CopyField } from '../form/CopyField'
import type { Reachability } from './installAddresses'
import { useHostText } from './text'

interface InstallAddressProps {
  reach: Reachability
  address: string | null
  onChange: (address: string | null) => void
}

/** Warns if other machines cannot reach the server, or lets the user choose its address. */
export function InstallAddress({ reach, address, onChange }: InstallAddressProps) {
  const w = useHostText()
  if (reach.options.length > 0)
    return (
      <Alert color="red" icon={<TriangleAlert size={16} />} title={w.loopbackTitle}>
        <Stack gap={6}>
          <Text size="sm">{w.loopbackBody(reach.root)}</Text>
          {reach.options.map((options) => (
            <Fragment key={options}>
              <CopyField value={`belvedere up ${options}`} label={w.startCommand} />
              <CopyField value={`make run ARGS="${options}"`} label={w.makeCommand} />
            </Fragment>
          ))}
        </Stack>
      </Alert>
    )
  if (reach.choices.length < 2) return null
  return (
    <Select
      label={w.serverAddress}
      description={w.serverAddressHelp}
      data={reach.choices}
      value={address ?? reach.root}
      onChange={onChange}
      allowDeselect={false}
    />
  )
}
