import { Alert, Select, Stack, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { CopyField } from '../form/CopyField'
import { type Reachability, urlOf } from './installAddresses'
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
          <StartCommands options={reach.options} />
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

/** How to restart the server, for one of its addresses. */
function StartCommands({ options }: { options: string[] }) {
  const w = useHostText()
  const [chosen, setChosen] = useState(options[0] ?? '')
  return (
    <>
      {options.length > 1 ? (
        <Select
          label={w.serverAddress}
          data={options.map((value) => ({ value, label: urlOf(value) }))}
          value={chosen}
          onChange={(value) => setChosen(value ?? chosen)}
          allowDeselect={false}
        />
      ) : null}
      <CopyField wrap value={`belvedere up ${chosen}`} label={w.startCommand} />
      <Text size="xs">{w.inCheckout}</Text>
      <CopyField wrap value={`make run ARGS="${chosen}"`} label={w.makeCommand} />
    </>
  )
}
