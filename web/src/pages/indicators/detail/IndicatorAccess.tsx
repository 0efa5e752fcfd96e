import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Indicator } from '../../../api/queries/monitoring/indicator'
import { AclDrawer } from '../../../ui/acl/AclDrawer'
import { useText } from '../text'

export function IndicatorAccess({ indicator }: { indicator: Indicator }) {
  const t = useText()
  const [opened, { open, close }] = useDisclosure()
  return (
    <Paper withBorder p="md">
      <Stack gap={8}>
        <Title order={2} size="h6">
          {t.access}
        </Title>
        <Text size="sm" className="ind-words">
          {indicator.acl.length ? indicator.acl.join(', ') : t.accessAll}
        </Text>
        <Group>
          <Button variant="default" onClick={open}>
            {t.editAccess}
          </Button>
        </Group>
      </Stack>
      <AclDrawer
        object="indicator"
        id={indicator.id}
        name={indicator.title}
        opened={opened}
        onClose={close}
      />
    </Paper>
  )
}
