import { Anchor, Group, Stack, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ROOT } from '../../api/client'
import { aboutQuery } from '../../api/queries/about'
import { dateTime, duration } from '../../lib/format'
import { Loaded } from '../../ui/layout/QueryResult'
import { ScriptsAsServer } from '../../ui/layout/ScriptUserWarning'
import { Section } from '../../ui/layout/Section'
import { Caution } from '../../ui/layout/Warning'
import { useText } from './text'
import './settings.css'

export function About() {
  const t = useText()
  const about = useQuery(aboutQuery)
  return (
    <Loaded query={about}>
      {(it) => (
        <Stack gap="md">
          {it.undeclared_proxies.length > 0 ? (
            <Caution title={t.proxies}>
              {t.proxiesBody} {it.undeclared_proxies.join(', ')}
            </Caution>
          ) : null}
          <ScriptsAsServer />
          <Section title="Belvedere" padded>
            <Table withRowBorders={false} variant="vertical" layout="fixed">
              <Table.Tbody>
                <Row name={t.version} value={it.version} />
                <Row name={t.engine} value={it.engine} />
                <Row name={t.schema} value={String(it.schema)} />
                <Row name={t.uptime} value={duration(it.uptime_s * 1000)} />
                <Row name={t.serverTime} value={dateTime(it.time)} />
                <Row name={t.agents} value={String(it.agents)} />
                <Row name="Python" value={it.python} />
              </Table.Tbody>
            </Table>
            <Group mt="sm">
              <Anchor size="sm" href={`${ROOT}-/docs`}>
                {t.docs}
              </Anchor>
              <Anchor size="sm" href={`${ROOT}-/openapi.json`}>
                {t.openapi}
              </Anchor>
            </Group>
          </Section>
          <Section title={t.licences} padded>
            <Table>
              <Table.Tbody>
                {it.licences.map((one) => (
                  <Table.Tr key={one.name}>
                    <Table.Td>{one.name}</Table.Td>
                    <Table.Td>{one.version}</Table.Td>
                    <Table.Td>{one.licence}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Section>
        </Stack>
      )}
    </Loaded>
  )
}

function Row({ name, value }: { name: string; value: string }) {
  return (
    <Table.Tr>
      <Table.Th w={160}>{name}</Table.Th>
      <Table.Td className="settings-wrap">{value}</Table.Td>
    </Table.Tr>
  )
}
